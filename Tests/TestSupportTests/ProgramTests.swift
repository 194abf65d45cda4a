import Basics
import Foundation
import Model
import TestSupport
import Testing

@Suite struct RunTests {
    @Test func testThatStatusOutputAndSignalAreTold() async throws {
        let result = try await run(["sh", "-c", "cat; echo err >&2; exit 3"], input: "in\n")
        #expect(result.status == 3)
        #expect(result.stdout == "in\n")
        #expect(result.stderr == "err\n")
        #expect(try await run(["sh", "-c", "kill -9 $$"]).status == -9)
        #expect(
            try await run(["sh", "-c", "echo $A"], in: "/", environment: ["A": "b", "PATH": "/bin"]).stdout == "b\n")
        await #expect(throws: ProgramFailure.self) { try await runExpectingSuccess(["false"]) }
    }

    /// sshd and Exim close unknown descriptors. Only their own exits are awaited until then.
    @Test func testThatAServerThatClosesAllDescriptorsHoldsUpNoOther() async throws {
        try await withTemporaryDirectory { directory in
            let closing = "for n in $(seq 3 255); do eval \"exec $n>&-\"; done; : > \"$0\"; exec sleep 1000"
            let mark = directory.path("closed")
            // when
            let status = try await ServerProcess.running(
                ["/bin/bash", "-c", closing, mark], log: directory.path("log"),
                isReady: { FileManager.default.fileExists(atPath: mark) }
            ) {
                try await run(["true"]).status
            }
            // then
            #expect(status == 0)
        }
    }

    @Test func testThatTheTestsProgramsAreFound() throws {
        #expect(TestTools.find("sh") != nil)
        #expect(TestTools.find("no-such-program") == nil)
        #expect(throws: ProgramFailure.self) { try TestTools.builtProduct("no-such-product") }
    }
}

@Suite struct GitRepositoryTests {
    @Test func testThatTheSameCommitsHaveTheSameIds() async throws {
        try await withTemporaryDirectory { temporary in
            // given
            var ids: [String] = []
            for name in ["one", "two"] {
                // when
                let repository = try await GitRepository.make(at: temporary.path(name))
                let first = try await repository.commit(
                    files: ["a/b": "text", "run.sh": "#!/bin/sh\n"], message: "First")
                ids.append(first.description)
                ids.append(try await repository.commit(files: ["c": "d"], removing: ["a"]).description)
            }
            // then
            #expect(ids[0] == ids[2] && ids[1] == ids[3] && ids[0] != ids[1])
        }
    }

    @Test func testThatBranchesAndTagsArePushedToABareRepository() async throws {
        try await withTemporaryDirectory { temporary in
            // given
            let work = try await GitRepository.make(at: temporary.path("work"))
            let commit = try await work.commit(files: ["a": "1"])
            let server = try await GitRepository.make(at: temporary.path("server.git"), isBare: true)
            // when
            try await work.branch("release/1.0")
            try await work.tag("1.0.0", message: "First")
            try await work.push(to: server)
            // then
            #expect(try await server.head("refs/heads/release/1.0") == commit)
            #expect(try await server.head("refs/tags/1.0.0") == commit)
            #expect(try await work.bareClone(at: temporary.path("copy.git")).head("main") == commit)
        }
    }
}

@Suite struct CorpusTests {
    @Test(.corpus) func testThatItsFilesAreFoundAndSorted() throws {
        let files = Corpus.files("semver", suffix: ".json")
        #expect(files.map(\.name) == ["semver/semver-2.0.0.json"])
        #expect(try files.first?.text().contains("valid") == true)
    }

    @Test func testThatTheRootHasThePackage() throws {
        #expect(try WholeFile.read(Project.root + "/Package.swift", limit: 1 << 20).isEmpty == false)
    }
}
