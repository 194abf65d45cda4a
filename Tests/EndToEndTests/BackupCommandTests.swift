import Basics
import Foundation
import Glibc
import TestSupport
import Testing

/// `martlet backup` and `martlet restore` as commands, beside a daemon and without one.
@Suite struct BackupCommandTests {
    private static let publishing = """
        branches: [main, "release/*"]
        triggers:
          - { name: publish, branches: ["release/*"], publish: { version: branch } }

        """

    private func martlet(_ daemon: Daemon, _ arguments: [String]) async throws -> ProgramResult {
        try await run(
            [try TestTools.builtProduct("martlet")] + arguments + ["--settings", daemon.settings],
            in: daemon.directory.path, environment: ["PATH": "/usr/bin:/bin", "HOME": daemon.directory.path])
    }

    /// Pushes a release branch whose tip becomes the next version.
    private func release(_ daemon: Daemon, _ number: Int, _ content: String) async throws {
        _ = try await daemon.work.commit(
            files: [
                "Makefile": "all:\n\techo \(content) >kit.txt\n",
                ".martlet.yml":
                    "configurations:\n  debug: { test: none }\nanalyze: []\narchive: { include: [kit.txt] }\n",
                ".gitignore": "kit.txt\n",
            ], message: "Say \(content)")
        try await daemon.work.git("push", "-q", daemon.remote.path, "HEAD:release/1.0")
        expectContains(try await daemon.completion(of: number), #""result":"succeeded""#)
    }

    /// Returns the digests of a published version.
    private func sums(_ daemon: Daemon, _ version: String) throws -> String {
        try daemon.directory.text("state/files/kit/\(version)/SHA256SUMS")
    }

    @Test(
        .proves(
            .programs,
            "`martlet backup`, `backup --verify` and `restore` are commands; after a loss they bring the service back with its history and its versions"
        ))
    func testThatALostStateComesBackByCommands() async throws {
        try await withDaemon(bot: Self.publishing) { daemon in
            // given: a backup of the running service, and a version after it
            try await release(daemon, 1, "one")
            let first = try sums(daemon, "1.0.0")
            // when
            let made = try await martlet(daemon, ["backup", "copy"])
            // then
            #expect(made.status == 0, "\(made.stderr)")
            #expect(made.stdout.hasPrefix("\(daemon.directory.path("copy")), made 20"))
            expectContains(made.stdout, " files, ")
            let verified = try await martlet(daemon, ["backup", "copy", "--verify"])
            #expect(verified.status == 0 && verified.stdout.hasSuffix(": every file is as it was\n"))
            let again = try await martlet(daemon, ["backup", "copy"])
            #expect(again.status == 73)
            expectContains(again.stderr, "is not empty; name a directory that is empty or not there")
            try await release(daemon, 2, "two")
            let beside = try await martlet(daemon, ["restore", "copy"])
            #expect(beside.status == 73)
            expectContains(beside.stderr, "a daemon works on \(daemon.state); stop it first")
            // when: the machine is lost
            try await daemon.stop()
            await daemon.endJobs()
            try FileManager.default.removeItem(atPath: daemon.state)
            let latest = try await martlet(daemon, ["restore", "copy", "--latest"])
            #expect(latest.status == 73)
            expectContains(latest.stderr, "it may not be the latest state; restore it without --latest")
            let restored = try await martlet(daemon, ["restore", "copy"])
            // then
            #expect(restored.status == 0, "\(restored.stderr)")
            expectContains(restored.stdout, " is restored into \(daemon.state)\n")
            expectContains(restored.stdout, "publishing is held: ")
            try await daemon.start()
            expectContains(try await daemon.output("show", "kit#1"), "kit#1")
            #expect(try sums(daemon, "1.0.0") == first)
            expectContains(try await daemon.output("audit", "--action", "restored"), "the backup of 20")
            // and no version gets the lost number
            expectContains(try await daemon.output("queue"), "publishing is held since ")
            let resumed = try await daemon.martlet("resume", "--publishing", "--published", "kit=1.0.1")
            #expect(resumed.status == 0, "\(resumed.stderr)")
            await until("the next version") {
                access(daemon.state + "/files/kit/1.0.2/SHA256SUMS", F_OK) == 0
            }
            #expect(access(daemon.state + "/files/kit/1.0.1", F_OK) != 0)
        }
    }

    @Test(
        .proves(
            .badInput,
            "Half a backup, a damaged one and one of another form are refused with a sentence, and nothing of them is restored"
        ))
    func testThatTheCommandsSayWhatIsWrong() async throws {
        try await withDaemon { daemon in
            // given
            let lost = try await martlet(daemon, ["backup", "nowhere", "--verify"])
            #expect(lost.status == 1)
            expectContains(lost.stderr, "is no whole backup: it has no backup.json")
            let inside = try await martlet(daemon, ["backup", daemon.state + "/copy"])
            #expect(inside.status == 73)
            expectContains(inside.stderr, "would be in the state directory; name another place")
            #expect(
                try await martlet(daemon, ["backup", "copy", "--with-artifacts"]).stdout.contains("with artifacts"))
            // when: a byte of it changes
            var bytes = try WholeFile.read(daemon.directory.path("copy/martlet.sqlite"), limit: 100 << 20)
            bytes[bytes.count - 1] ^= 1
            try AtomicFile.write(bytes, to: daemon.directory.path("copy/martlet.sqlite"))
            // then
            let damaged = try await martlet(daemon, ["backup", "copy", "--verify"])
            #expect(damaged.status == 1)
            expectContains(damaged.stderr, "copy/martlet.sqlite is damaged")
            try await daemon.stop()
            let used = try await martlet(daemon, ["restore", "copy"])
            #expect(used.status == 73)
            expectContains(used.stderr, "is not empty: it has ")
        }
    }
}
