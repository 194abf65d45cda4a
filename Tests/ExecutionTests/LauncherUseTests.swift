import Execution
import Glibc
import JobProtocol
import TestSupport
import Testing

/// A launcher in the background that no daemon uses any more.
@Suite(.proves(.jobs, "A launcher that no daemon uses any more ends by itself"))
struct LauncherUseTests {
    /// Starts a launcher that exits after one second without use.
    private func startImpatient(_ launched: Launched) async throws -> LockContent {
        try await runExpectingSuccess([
            launched.supervisor, "--listen", launched.socket, "--detach", "--idle-limit", "1",
        ])
        return try #require(launched.lockOwner(launched.socket + ".lock"))
    }

    /// The daemon was killed before its first request.
    @Test func testThatOneThatNobodyAsksEndsByItself() async throws {
        try await withLaunched { launched in
            // when
            let launcher = try await startImpatient(launched)
            // then
            await until("it is gone") { !launcher.isAlive }
            #expect(access(launched.socket, F_OK) != 0)
            #expect(try await launched.run(launched.job("true"), name: "next").result == .completed)
        }
    }

    /// This process sent the request, and still runs.
    @Test func testThatOneWhoseDirectoryIsGoneEndsOnceItsJobHasEnded() async throws {
        try await withLaunched { launched in
            // given
            let launcher = try await startImpatient(launched)
            let attempt = launched.attempt()
            try attempt.prepare(launched.job("touch ready; while ! test -e go; do sleep 0.02; done"))
            try await launched.executor.start(attempt, secrets: [:])
            await launched.waitFor("ready")
            // when
            for path in [launched.socket, launched.socket + ".lock"] { unlink(path) }
            let next = try await startImpatient(launched)
            // then: it has checked since, by the exit of the next one, which had no request
            await until("the next one is gone") { !next.isAlive }
            #expect(launcher.isAlive)
            try launched.directory.write("workspace/go", "")
            #expect(try await launched.end(of: attempt).result == .completed)
            await until("it is gone") { !launcher.isAlive }
        }
    }

    /// The daemon was killed while its job ran.
    @Test(.program("python3")) func testThatOneWhoseJobWasAskedForByAProcessThatIsGoneEndsAfterTheJob() async throws {
        try await withLaunched { launched in
            // given
            let launcher = try await startImpatient(launched)
            let attempt = launched.attempt()
            try attempt.prepare(launched.job("touch ready; while ! test -e go; do sleep 0.02; done"))
            let request = try launched.directory.write(
                "request", LaunchRequest(attempt: attempt.path, secrets: [:]).json())
            try await runExpectingSuccess(["python3", "-c", Self.ask, launched.socket, request])
            await launched.waitFor("ready")
            // when
            try launched.directory.write("workspace/go", "")
            #expect(try await launched.end(of: attempt).result == .completed)
            // then
            await until("it is gone") { !launcher.isAlive }
        }
    }

    /// Sends a frame to the launch socket, and waits for the answer's first byte.
    private static let ask = """
        import socket, struct, sys
        bytes = open(sys.argv[2], "rb").read()
        launcher = socket.socket(socket.AF_UNIX)
        launcher.connect(sys.argv[1])
        launcher.sendall(struct.pack("<I", len(bytes)) + bytes)
        launcher.recv(1)
        """
}
