import Foundation
import TestSupport
import Testing

/// `deploy/quickstart URL` until its end, with the programs that are built beside these tests.
@Suite(
    .enabled(if: Quickstart.isBuiltWhereItLooks, "the package is built elsewhere than in .build/debug"))
struct QuickstartRepositoryTests {
    /// Runs a test with a quickstart whose daemon is on a free port, and stops the daemon afterwards in any case.
    private func withQuickstart(_ body: (_ quickstart: Quickstart, _ port: String) async throws -> Void) async throws {
        try await withTemporaryDirectory { directory in
            var quickstart = Quickstart(directory)
            try quickstart.toolchain("6.2")
            try quickstart.packages(areInstalled: true)
            quickstart.environment["MARTLET_QUICKSTART_CONFIGURATION"] = "debug"
            var failure: (any Error)?
            do { try await body(quickstart, try Quickstart.freePort()) } catch { failure = error }
            let stop = try await quickstart("--stop")
            #expect(stop.status == 0, "\(stop.stderr)")
            if let failure { throw failure }
        }
    }

    /// Makes a bare repository with a project that needs only make.
    private func project(_ name: String, branches: [String], _ directory: TemporaryDirectory) async throws -> String {
        let remote = try await GitRepository.make(at: directory.path(name + ".git"), isBare: true)
        let work = try await GitRepository.make(at: directory.path(name))
        _ = try await work.commit(files: [
            "Makefile": "all:\n\techo made >product\ncheck:\n\ttest -s product\n", ".gitignore": "product\n",
            ".martlet.yml": "configurations:\n  debug:\narchive: { include: [product] }\n",
        ])
        for branch in branches { try await work.git("push", "-q", remote.path, "HEAD:refs/heads/" + branch) }
        return remote.path
    }

    @Test(
        .proves(.firstSteps, "`deploy/quickstart URL` integrates that repository: a path, http, ssh"),
        .proves(.firstSteps, "The quickstart with a URL without a release branch ends with how to make one"))
    func testThatEachBranchHasItsRowAndTheEndSaysHowToGoOn() async throws {
        try await withQuickstart { quickstart, port in
            // given
            let plain = try await project("plain", branches: ["main"], quickstart.directory)
            let lined = try await project("lined", branches: ["main", "release/1.4"], quickstart.directory)
            // when
            let first = try await quickstart(plain, "--port", port)
            let second = try await quickstart(lined)
            // then
            #expect(first.status == 0 && second.status == 0, "\(first.stderr)\(second.stderr)")
            #expect(first.stderr == "quickstart: looking at \(plain)\n")
            expectLines(
                first.stdout,
                [
                    #"\[4/5\] plain#1     main         succeeded .* [0-9]+ s"#,
                    #"\[5/5\] look        http://127\.0\.0\.1:[0-9]+/bots/plain/1     \(from afar: ssh -L .*\)"#,
                    #"      release     git push origin HEAD:release/1\.0      in your clone → plain 1\.0\.0, once .*"#,
                    #"      stop        deploy/quickstart --stop          for good: sudo deploy/install"#,
                ])
            expectLines(
                second.stdout,
                [
                    #"\[4/5\] lined#1     main         succeeded .* [0-9]+ s"#,
                    #"      lined#2     release/1\.4  succeeded          published lined 1\.4\.0 .* [0-9]+ s"#,
                    #"\[5/5\] look        http://127\.0\.0\.1:[0-9]+/bots/lined/2     \(from afar: ssh -L .*\)"#,
                    #"      download    curl -fO http://127\.0\.0\.1:[0-9]+/files/lined/1\.4\.0/lined-1\.4\.0-.*"#,
                    #"      stop        deploy/quickstart --stop          for good: sudo deploy/install"#,
                ])
        }
    }

    @Test(
        .proves(
            .firstSteps,
            "The quickstart says what to do about a repository that does not exist, is empty, lacks its default branch, or has another one's name"
        ))
    func testThatARepositoryThatCannotBeIntegratedSaysWhatToDo() async throws {
        try await withQuickstart { quickstart, port in
            // given
            let directory = quickstart.directory
            let empty = try await project("empty", branches: [], directory)
            let side = try await project("side", branches: ["feature", "other"], directory)
            let nowhere = directory.path("nowhere.git")
            // when
            let results = [
                try await quickstart(empty, "--port", port), try await quickstart(nowhere), try await quickstart(side),
                try await quickstart(try await project("other/side", branches: ["main"], directory)),
            ]
            // then
            #expect(results.map(\.status) == [1, 1, 1, 1])
            expectContains(results[0].stderr, "quickstart: the repository is empty: it has neither branches nor tags\n")
            expectContains(results[0].stderr, "git push \(empty) HEAD:main\n")
            expectContains(results[1].stderr, "quickstart: the repository cannot be read: ")
            expectContains(results[1].stderr, "Check it: git ls-remote \(nowhere)\n")
            expectNoFile(quickstart.home + "/bots/nowhere.yml")
            expectContains(results[2].stderr, "quickstart: the repository has no branch that is integrated")
            expectContains(results[2].stderr, "state/martlet/quickstart/bots/side.yml: branches: [NAME]\n")
            expectContains(results[3].stderr, "there is a bot side already, for another repository\n")
        }
    }

    /// Expects a text to end with lines that match patterns.
    private func expectLines(
        _ text: String, _ patterns: [String], sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let lines = text.split(separator: "\n").suffix(patterns.count)
        let isSo =
            lines.count == patterns.count
            && zip(lines, patterns).allSatisfy { line, pattern in
                line.range(of: "^\(pattern)$", options: .regularExpression) != nil
            }
        if !isSo {
            Issue.record(
                "the end is not\n\(patterns.joined(separator: "\n"))\nbut\n\(text)", sourceLocation: sourceLocation)
        }
    }
}
