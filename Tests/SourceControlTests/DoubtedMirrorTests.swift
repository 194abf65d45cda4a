import Basics
import Model
import TestSupport
import Testing

@testable import SourceControl

/// Mirrors after a stop of the machine: none of their files were synchronized.
@Suite struct DoubtedMirrorTests {
    /// Runs a test with a mirror that was fetched over a connection, with a held commit, and the same mirror of the next process.
    private static func withMirror(
        _ body: (_ fixture: Fixture, _ mirror: Mirror, _ next: (mirrors: Mirrors, mirror: Mirror)) async throws -> Void
    ) async throws {
        try await withOrigin(["a": String(repeating: "line\n", count: 2000), "b/c": "1\n"]) { fixture in
            try await GitDaemon.serving(fixture.directory.path("origin")) { server in
                func mirrors() -> Mirrors {
                    Mirrors(directory: fixture.directory.path("others"), configuration: GitConfiguration(files: []))
                }
                let url = try RemoteURL("git://127.0.0.1:\(server.port)/kit", isInsecureAllowed: true)
                let mirror = mirrors().mirror(of: url)
                let heads = try await mirror.scan().heads
                try await mirror.fetch(heads)
                try await mirror.hold(
                    try #require(heads[fixture.main]), for: IntegrationID(bot: try #require(Name("kit")), number: 1))
                // libgit2 maps a pack once per process, and truncating a mapped file crashes the process. The next process maps it again.
                mirror.kept.drop(mirror.store)
                let later = mirrors()
                try await body(fixture, mirror, (later, later.mirror(of: url)))
            }
        }
    }

    /// The forms of files whose bytes never reached the disk.
    @Test(
        .proves(
            .jobs,
            "After a stop of the machine, mirrors are verified by their next fetch and workspaces start from scratch; a kill of the daemon doubts nothing"
        ),
        arguments: [
            "pack empty", "pack of zeros", "index empty", "packed-refs cut", "packed-refs of zeros",
            "packed-refs unreadable", "config empty", "config of zeros", "HEAD empty", "hold empty",
        ])
    func testThatATornFileIsFoundAndTheMirrorMended(_ torn: String) async throws {
        try await Self.withMirror { fixture, mirror, next in
            // given
            let commit = try await fixture.origin.head()
            let script = """
                chmod -R u+w objects; p=$(ls objects/pack/*.pack)
                zeros() { s=$(stat -c %s "$1"); : > "$1"; truncate -s "$s" "$1"; }
                case '\(torn)' in
                'pack empty') : > $p ;;
                'pack of zeros') zeros $p ;;
                'index empty') : > ${p%.pack}.idx ;;
                'packed-refs cut') truncate -s -9 packed-refs ;;
                'packed-refs of zeros') zeros packed-refs ;;
                'packed-refs unreadable') rm packed-refs; mkdir packed-refs ;;
                'config empty') : > config ;;
                'config of zeros') zeros config ;;
                'HEAD empty') : > HEAD ;;
                'hold empty') : > refs/martlet/kit/1 ;;
                esac
                """
            try await runExpectingSuccess(["sh", "-c", script], in: mirror.path)

            // when
            let count = try next.mirrors.doubt()
            let content = try await next.mirror.content(of: commit, file: nil, limit: 0)
            try await next.mirror.fetch(try await next.mirror.scan().heads)

            // then: no integration begins before it was verified
            #expect(count == 1)
            #expect(content == nil)
            #expect(try await next.mirror.content(of: commit, file: nil, limit: 0) != nil)
            _ = try await next.mirror.checkout(
                commit, ref: fixture.main, into: fixture.workspace, state: fixture.state, isClean: true)
            #expect(try fixture.tree().keys.sorted() == ["a", "b/c"])
            #expect(try await next.mirror.resolve("refs/heads/main") == commit)
            try await next.mirror.hold(commit, for: IntegrationID(bot: try #require(Name("kit")), number: 1))
            let refs = try await runExpectingSuccess(
                ["git", "-C", mirror.path, "for-each-ref", "--format=%(refname) %(objectname)"])
            #expect(refs.contains("refs/martlet/kit/1 \(commit)\n"))
            try await runExpectingSuccess(["git", "-C", mirror.path, "fsck", "--full"])
        }
    }

    @Test(
        .proves(
            .jobs,
            "After a stop of the machine, mirrors are verified by their next fetch and workspaces start from scratch; a kill of the daemon doubts nothing"
        ))
    func testThatAWholeMirrorIsVerifiedAndServesWithoutItsServer() async throws {
        try await Self.withMirror { fixture, mirror, next in
            // given
            let commit = try await fixture.origin.head()
            let packs = try Directory(opening: mirror.objects + "/pack").entries().map(\.name)
            try await runExpectingSuccess(["rm", "-rf", fixture.origin.path])

            // when
            _ = try next.mirrors.doubt()
            try await next.mirror.fetch([fixture.main: commit])

            // then
            #expect(try await next.mirror.content(of: commit, file: nil, limit: 0) != nil)
            #expect(try Directory(opening: mirror.objects + "/pack").entries().map(\.name) == packs)
            let refs = try await runExpectingSuccess(["git", "-C", mirror.path, "for-each-ref", "--format=%(refname)"])
            #expect(refs == "refs/heads/main\nrefs/martlet/kit/1\n")
        }
    }

    @Test func testThatWhatIsNoMirrorIsLeftAlone() async throws {
        try await withTemporaryDirectory { directory in
            // given
            try directory.makeDirectory("repositories/lost+found")
            try directory.write("repositories/README", "not ours\n")

            // when
            let mirrors = Mirrors(directory: directory.path("repositories"), configuration: GitConfiguration(files: []))
            let count = try mirrors.doubt()

            // then
            #expect(count == 0)
            #expect(try Directory(opening: directory.path("repositories/lost+found")).entries().isEmpty)
            expectFile(directory.path("repositories/README"), "not ours\n")
        }
    }
}
