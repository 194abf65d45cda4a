import Basics
import Foundation
import Glibc
import TestSupport
import Testing

/// Row K5: SIGTERM and SIGINT, each twice, and SIGKILL in the middle of a job, a checkout and an upload.
@Suite(
    .proves(
        .jobs,
        "SIGTERM, SIGINT, SIGTERM or SIGINT and SIGTERM again, and SIGKILL in the middle of a job, a checkout or an upload (K5)"
    ), .threat("K5"))
struct K5SignalTests {
    @Test(
        arguments: [
            [SIGTERM], [SIGINT], [SIGTERM, SIGTERM], [SIGINT, SIGINT], [SIGINT, SIGTERM], [SIGKILL],
        ])
    func testThatTheDaemonEndsAndItsJobIsTakenUp(signals: [Int32]) async throws {
        try await withDaemon { daemon in
            // given
            try await WaitingProject.push(daemon)
            await until("the job runs") { WaitingProject.isBuilding(daemon) }

            // when
            let start = ContinuousClock.now
            let status = try await daemon.end(by: signals)

            // then: well before systemd's 90 s
            #expect(status == (signals == [SIGKILL] ? -SIGKILL : 0))
            #expect(ContinuousClock.now - start < TestLimits.wait * 2)
            try await daemon.start()
            try daemon.directory.write("go", "")
            expectContains(try await daemon.completion(of: 1), #""result":"succeeded""#)
            expectFile(daemon.directory.path("runs"), "run\n")
        }
    }

    /// The checkout of 20,000 files, of which some are written when the signal arrives. SIGTERM interrupts it when the service handles it, which
    /// may be a second later, after the checkout's end. SIGKILL does so at once.
    @Test(arguments: [SIGTERM, SIGKILL])
    func testThatACheckoutIsMadeAgain(signal: Int32) async throws {
        try await withDaemon { daemon in
            // given
            var files = [
                "Makefile": "all:\n\tls many | wc -l\n",
                ".martlet.yml": "configurations:\n  debug: { test: none }\nanalyze: []\narchive: { include: [] }\n",
            ]
            for number in 0..<20_000 { files["many/\(number)"] = "\(number)\n" }
            _ = try await daemon.work.commit(files: files, message: "Begin")
            let many = daemon.state + "/workspaces/kit/debug/trusted/0/tree/many"
            let pid = try #require(daemon.pid)

            // when: on a thread of its own, since tests wait for each other longer than the checkout may take
            let limit = ContinuousClock.now + TestLimits.wait * 3
            async let isSent = SerialQueue(label: "signal").run {
                while access(many + "/0", F_OK) != 0 {
                    guard ContinuousClock.now < limit else { return false }
                    poll(nil, 0, 1)
                }
                return kill(pid, signal) == 0
            }
            try await daemon.work.push(to: daemon.remote)
            #expect(await isSent, "some of the files are written")
            #expect(try await daemon.end(by: []) == (signal == SIGKILL ? -SIGKILL : 0))
            let written = try FileManager.default.contentsOfDirectory(atPath: many).count
            try await daemon.start()

            // then
            #expect(signal != SIGKILL || written < 20_000, "it was in the middle")
            expectContains(try await daemon.completion(of: 1), #""result":"succeeded""#)
            expectContains(try await daemon.output("log", "kit#1"), "20000")
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
                    ".martlet.yml":
                        "configurations:\n  debug: { test: none }\nanalyze: []\narchive: { include: [kit.txt] }\n",
                ], message: "Begin")
            try await daemon.work.push(to: daemon.remote)
            func isUploading() async throws -> Bool {
                try await daemon.get("/api/v1/bots/kit/integrations/1").body.contains(#""step":"uploading""#)
            }
            try await until("it uploads", limit: TestLimits.wait * 3) { try await isUploading() && server.hasCaller }
            await server.connection()

            // when
            #expect(try await daemon.end(by: [SIGTERM]) == 0)
            try await daemon.start()

            // then
            await until("it uploads again") { server.hasCaller }
            #expect(try await isUploading())
            #expect(try await daemon.martlet("cancel", "kit#1").status == 0)
            expectContains(try await daemon.completion(of: 1), #""result":"canceled""#)
        }
    }
}
