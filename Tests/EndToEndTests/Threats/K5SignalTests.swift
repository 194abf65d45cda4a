import Glibc
import TestSupport
import Testing

/// Row K5: SIGTERM, SIGINT, SIGHUP, each twice, and SIGKILL in the middle of a job.
@Suite struct K5SignalTests {
    @Test(arguments: [[SIGTERM], [SIGINT], [SIGHUP], [SIGTERM, SIGTERM], [SIGINT, SIGTERM], [SIGKILL]])
    func testThatTheDaemonEndsAndItsJobIsTakenUp(signals: [Int32]) async throws {
        try await withDaemon { daemon in
            // given
            try await WaitingProject.push(daemon)
            await until("the job runs") { WaitingProject.isBuilding(daemon) }

            // when
            let start = ContinuousClock.now
            let status = await daemon.end(by: signals)

            // then: well before systemd's 90 s
            #expect(status == (signals == [SIGKILL] ? -1 : 0))
            #expect(ContinuousClock.now - start < TestLimits.wait * 2)
            try await daemon.start()
            try daemon.directory.write("go", "")
            expectContains(try await daemon.completion(of: 1), #""result":"succeeded""#)
            expectFile(daemon.directory.path("runs"), "run\n")
        }
    }

    @Test func testThatAnUploadThatHangsDoesNotHoldItUpAndIsMadeAgain() async throws {
        let server = try LoopbackSocket()
        defer { server.stop() }
        let bot = """
            insecure: true
            triggers: [{ name: office, branches: [main], upload: "http://127.0.0.1:\(server.port)/" }]

            """
        try await withDaemon(bot: bot) { daemon in
            // given
            _ = try await daemon.work.commit(
                files: [
                    "Makefile": "all:\n\techo made >kit.txt\n", ".gitignore": "kit.txt\n",
                    ".martlet.yml": "configurations:\n  debug:\nanalyze: []\narchive: { include: [kit.txt] }\n",
                ], message: "Begin")
            try await daemon.work.push(to: daemon.remote)
            func isUploading() async throws -> Bool {
                try await daemon.get("/api/v1/bots/kit/integrations/1").body.contains(#""step":"uploading""#)
            }
            try await until("it uploads", limit: TestLimits.wait * 3) { try await isUploading() }

            // when
            #expect(await daemon.end(by: [SIGTERM]) == 0)
            try await daemon.start()

            // then
            try await until("it uploads again") { try await isUploading() }
            #expect(try await daemon.martlet("cancel", "kit#1").status == 0)
            expectContains(try await daemon.completion(of: 1), #""result":"canceled""#)
        }
    }
}
