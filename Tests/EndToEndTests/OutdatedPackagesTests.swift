import Foundation
import TestSupport
import Testing

/// `deploy/packages --outdated` in a small project, with programs in the place of `git` and `apt-cache`.
@Suite(.proves(.firstSteps, "`deploy/packages --outdated` lists the Swift and Debian packages with a newer version"))
struct OutdatedPackagesTests {
    @Test func testThatOnlyPackagesWithANewerReleaseAreListed() async throws {
        try await withProject(
            tags: ["1.9.0", "v1.10.0", "2.0.0-beta.1"], pins: ["1.9.0", "1.10.0"],
            policy: "git:\n  Installed: 1\n  Candidate: 2\ncurl:\n  Installed: 3\n  Candidate: 3\n"
        ) { project in
            // when
            let result = try await outdated(project)
            // then
            #expect(result.status == 0)
            expectEqualLines(
                result.stdout,
                """
                https://git.acme.example/package-0 1.9.0 1.10.0
                git 1 2

                """)
        }
    }

    @Test func testThatARepositoryThatDoesNotAnswerIsReported() async throws {
        try await withProject(tags: nil, pins: ["1.9.0"], policy: "") { project in
            // when
            let result = try await outdated(project)
            // then
            #expect(result.status == 69)
            expectContains(result.stderr, "could not list the versions of https://git.acme.example/package-0")
        }
    }

    private func outdated(_ project: TemporaryDirectory) async throws -> ProgramResult {
        try await run(
            [project.path("deploy/packages"), "--outdated"], in: project.path,
            environment: ["PATH": project.path("tools") + ":/usr/bin:/bin"])
    }

    /// - Parameter tags: those of every repository; `nil` for repositories that do not answer.
    private func withProject(
        tags: [String]?, pins: [String], policy: String, _ body: (TemporaryDirectory) async throws -> Void
    ) async throws {
        try await withTemporaryDirectory { directory in
            let script = try String(contentsOfFile: Project.root + "/deploy/packages", encoding: .utf8)
            try directory.write("deploy/packages", script, mode: 0o755)
            let lines = pins.enumerated().map {
                #"        .package(url: "https://git.acme.example/package-\#($0.offset)", exact: "\#($0.element)"),"#
            }
            try directory.write("Package.swift", lines.joined(separator: "\n") + "\n")
            let listed = tags.map { $0.map { "echo 0123abc refs/tags/\($0)" }.joined(separator: "\n") } ?? "exit 128"
            try directory.write("tools/git", "#!/bin/sh\n\(listed)\n", mode: 0o755)
            try directory.write("policy", policy)
            try directory.write("tools/apt-cache", "#!/bin/sh\ncat '\(directory.path("policy"))'\n", mode: 0o755)
            try await body(directory)
        }
    }
}
