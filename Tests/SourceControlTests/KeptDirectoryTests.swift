import Basics
import SourceControl
import TestSupport
import Testing

/// The service's files in a workspace are no change of the commit for the job's git.
@Suite(
    .proves(
        .sourceControl,
        "The service's files in a workspace are no change for the job's git, so `git describe --dirty` and Go's stamp find the commit clean"
    ))
struct KeptDirectoryTests {
    private func checkout(_ fixture: Fixture, kept: [String]) async throws {
        let commit = try await fixture.fetch()
        _ = try await fixture.mirror.checkout(
            commit, ref: fixture.main, into: fixture.workspace, state: fixture.state, kept: kept)
    }

    private func status(_ fixture: Fixture) async throws -> String {
        try await runExpectingSuccess(
            ["git", "status", "--porcelain"], in: fixture.workspace, environment: GitRepository.environment())
    }

    private func write(_ paths: [String], in fixture: Fixture) throws {
        let tree = try Directory(opening: fixture.workspace)
        for path in paths {
            if let slash = path.lastIndex(of: "/") { try tree.makeDirectories(String(path[..<slash])) }
            try tree.write(path, bytes: Array("job\n".utf8))
        }
    }

    @Test func testThatWhatIsKeptDoesNotMakeTheWorkspaceDirty() async throws {
        try await withOrigin { fixture in
            // given
            try await checkout(fixture, kept: [".martlet", "target"])

            // when
            try write([".martlet/cache/go/x", "target/debug/y"], in: fixture)

            // then
            #expect(try await status(fixture) == "")
            #expect(try fixture.status(".git/info/exclude")?.mode == 0o444)
            #expect(try fixture.status(".git/info")?.mode == 0o555)
        }
    }

    @Test func testThatWhatTheJobMadeElsewhereStillDoes() async throws {
        try await withOrigin { fixture in
            // given
            try await checkout(fixture, kept: [".martlet", "target"])

            // when: there is also a file of that name, and such a directory outside of the root
            try write(["left", "sub/target/x"], in: fixture)

            // then
            #expect(try await status(fixture) == "?? left\n?? sub/\n")
        }
    }

    /// The kept names depend on the project's type, which can change for a commit of the same files.
    @Test func testThatOtherNamesAreWrittenAtTheSameCommit() async throws {
        try await withOrigin { fixture in
            // given
            try await checkout(fixture, kept: [".martlet"])
            try write(["target/x"], in: fixture)

            // when
            try await checkout(fixture, kept: [".martlet", "target"])

            // then
            #expect(try fixture.tree()["target/x"] == "job\n")
            #expect(try await status(fixture) == "")
        }
    }
}
