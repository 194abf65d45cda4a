import TestSupport
import Testing

/// Row L2: 1,000 readers of one log.
@Suite(.threat("L2"), .enabled(if: ManyDescriptors.raise(to: 9000), "few descriptors")) struct L2ReadersTests {
    private static let readers = 1000
    private static let bytes = 1_000_000
    /// 256 KiB per reader: its connection, and the parts of the log that were passed to it (170 KB, debug build).
    private static let memory = readers * 256 << 10

    @Test(
        .proves(.intake, "1,000 readers of one log delay nobody; each has one piece of it in memory (L2)"),
        .program("curl"))
    func testThatReadersWhoDoNotReadHoldNobodyUp() async throws {
        try await withDaemon { daemon in
            // given: a job that has printed more than fits between a server and a reader, and continues
            let go = daemon.directory.path("go")
            try await daemon.push(
                building: "@yes compiling | head -c \(Self.bytes); while [ ! -f \(go) ]; do sleep 0.02; done")
            let target = "/api/v1/bots/kit/integrations/1/log/debug/events"
            try await until("the log is there", limit: TestLimits.wait * 6) {
                let last = ["Range: bytes=\(Self.bytes - 1)-\(Self.bytes - 1)"]
                return try await daemon.get("/api/v1/bots/kit/integrations/1/log/debug", headers: last).status == 206
            }
            let before = try daemon.memory()

            // when: a few at a time, because requests beyond the limit of pending answers are refused with 503
            var idle: [SlowClient] = []
            while idle.count < Self.readers {
                let next = try (0..<50).map { _ in try SlowClient(get: target, port: daemon.port) }
                for reader in next { try #require(await reader.status() == 200, "reader \(idle.count)") }
                idle += next
            }

            // then
            try await daemon.expectAnswers("l2-meanwhile")
            let grown = try daemon.memory() - before
            #expect(grown < Self.memory, "\(grown >> 20) MiB more")
            let reader = try SlowClient(get: target, "Connection: close\r\n", port: daemon.port)
            try daemon.directory.write("go", "")
            #expect(await reader.rest() > Self.bytes)
            expectContains(try await daemon.completion(of: 1), #""result":"succeeded""#)
        }
    }
}
