import Basics
import Glibc
import TestSupport
import Testing

/// Row PW5: two daemons on one state directory. The same path is in `DaemonTests`.
@Suite(
    .proves(.jobs, "A second daemon is refused over a bind mount too; a stale lock is no hindrance (PW5)"),
    .threat("PW5"))
struct PW5TwoDaemonsTests {
    @Test(.smallDisk) func testThatASecondOneOverABindMountIsRefusedAndTouchesNothing() async throws {
        try await withDaemon { daemon in
            // given
            let other = try daemon.directory.makeDirectory("mounted")
            try daemon.directory.makeDirectory("second/bots")
            try daemon.directory.write("second/martlet.yml", "listen: 127.0.0.1:\(daemon.port)\nstate: \(other)\n")
            try daemon.directory.directory().setMode(0o700, ofDirectory: "second")
            let before = try daemon.directory.text("state/lock")

            // when
            try await runExpectingSuccess(["mount", "--bind", daemon.state, other])
            let answer: Result<ProgramResult, any Error>
            do {
                answer = .success(
                    try await daemon.martlet("serve", "--settings", daemon.directory.path("second/martlet.yml")))
            } catch {
                answer = .failure(error)
            }
            try await runExpectingSuccess(["umount", "-l", other])

            // then
            let second = try answer.get()
            #expect(second.status == 69)
            expectContains(second.stderr, "another daemon uses the state directory \(other)")
            #expect(try daemon.directory.text("state/lock") == before)
            #expect(try await daemon.get("/health").status == 200, "the first goes on")
        }
    }

    @Test func testThatAStaleLockIsNoHindrance() async throws {
        try await withDaemon { daemon in
            // given: a killed daemon, whose process number another process has by now
            #expect(try await daemon.end(by: [SIGKILL]) == -SIGKILL)
            try daemon.directory.write("state/lock", "\(getpid())\n")

            // when
            try await daemon.start()

            // then
            #expect(try daemon.directory.text("state/lock") == "\(try #require(daemon.pid))\n")
            #expect(try await daemon.get("/health").status == 200)
        }
    }
}
