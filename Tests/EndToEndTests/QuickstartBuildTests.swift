import Foundation
import TestSupport
import Testing

/// The conditions under which `deploy/quickstart` builds, tested in a small clone with a `swift` that only writes what a build writes.
@Suite(.proves(.firstSteps, "The quickstart builds; the second build takes seconds, also in a fresh clone"))
struct QuickstartBuildTests {
    /// A fresh clone is built once. SwiftPM writes Package.resolved while it builds, which does not cause another build.
    @Test func testThatASecondRunInAFreshCloneBuildsNothing() async throws {
        try await withClone { clone in
            // given
            let first = try await clone.quickstart()
            #expect(first == 4, "one build for each program")
            // when
            let second = try await clone.quickstart()
            // then
            #expect(second == 0)
        }
    }

    @Test func testThatASecondRunWithoutPackageResolvedBuildsNothing() async throws {
        try await withClone(resolves: false) { clone in
            let first = try await clone.quickstart()
            #expect(first == 4)
            let second = try await clone.quickstart()
            #expect(second == 0)
        }
    }

    @Test(arguments: ["Package.resolved", "Package.swift", "Sources/new.swift", ".build/release/martlet"])
    func testThatAChangeIsBuilt(file: String) async throws {
        try await withClone { clone in
            // given
            let first = try await clone.quickstart()
            #expect(first == 4)
            // when
            try clone.change(file)
            let second = try await clone.quickstart()
            // then
            #expect(second == 4)
        }
    }

    // MARK: The clone

    private struct Clone {
        let directory: TemporaryDirectory
        let program: Quickstart

        /// Runs `deploy/quickstart` and returns the number of its `swift build` calls. It ends at the daemon, which does not exist.
        func quickstart() async throws -> Int {
            let before = try calls()
            let result = try await program("--port", try Quickstart.freePort())
            expectContains(result.stderr, "quickstart: the daemon ended at its start")
            return try calls() - before
        }

        /// Changes the contents of a file, with a time ten minutes after the build.
        func change(_ file: String) throws {
            try directory.write("clone/" + file, "changed\n", mode: 0o755)
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSinceNow: 600)], ofItemAtPath: directory.path("clone/" + file))
        }

        private func calls() throws -> Int {
            let path = directory.path("calls")
            guard FileManager.default.fileExists(atPath: path) else { return 0 }
            return try directory.text("calls").split(separator: "\n").count
        }
    }

    private func withClone(resolves: Bool = true, _ body: (Clone) async throws -> Void) async throws {
        try await withTemporaryDirectory { directory in
            for script in ["deploy/quickstart", "deploy/packages"] {
                try directory.write(
                    "clone/" + script, try String(contentsOfFile: Project.root + "/" + script, encoding: .utf8),
                    mode: 0o755)
            }
            try directory.write("clone/Package.swift", "// swift-tools-version: 6.2\n")
            try directory.makeDirectory("clone/Sources")
            var quickstart = Quickstart(directory)
            quickstart.project = directory.path("clone")
            try quickstart.packages(areInstalled: true)
            // The modification times of a build's files are after its beginning. Ten seconds make that certain on any file system.
            try quickstart.standIn(
                "swift",
                """
                [ "$1" = build ] || { echo 'Swift version 6.2 (test)'; exit; }
                echo "$*" >>"$HOME/calls"
                cd "$HOME/clone" && mkdir -p .build/release
                [ \(resolves ? "-e Package.resolved" : "1 = 1") ] || { echo '{}' >Package.resolved; touch -d '10 seconds' Package.resolved; }
                for name in martlet martlet-supervisor martlet-tools martlet-reader; do
                    [ -x .build/release/$name ] || { printf '#!/bin/sh\\nexit 1\\n' >.build/release/$name; chmod +x .build/release/$name; }
                done
                """)
            try await body(Clone(directory: directory, program: quickstart))
        }
    }
}
