import TestSupport
import Testing

/// Row W11: bodies that are not yet known to be authentic.
@Suite(.threat("W11")) struct W11BodiesTests {
    @Test(
        .proves(
            .intake,
            "Without a signature header no body is read; a large body stays on the disk until it is verified; forged signatures keep no webhook away (W11)"
        ), .program("curl"))
    func testThatLargeBodiesTakeNoMemoryBeforeTheyAreVerified() async throws {
        try await withDaemon { daemon in
            // given
            try await daemon.expectAnswers("w11-before")
            #expect(try await daemon.push(delivery: "w11-large-before", updates: 500) == 202, "70 KB")
            let before = try daemon.memory()
            let head =
                "POST /webhooks/github/kit HTTP/1.1\r\nHost: 127.0.0.1\r\n"
                + "X-Hub-Signature-256: sha256=\(String(repeating: "0", count: 64))\r\nContent-Length: 20000000\r\n\r\n"
            let part = String(repeating: "x", count: 1 << 20)

            // when: 100 MiB are being sent
            let clients = try (0..<100).map { _ in try SlowClient(head + part, port: daemon.port) }

            // then
            #expect(try await daemon.push(delivery: "w11-large", updates: 500) == 202, "70 KB, authentic")
            try await daemon.expectAnswers("w11-meanwhile")
            let grown = try daemon.memory() - before
            #expect(grown < 32 << 20, "\(grown >> 20) MiB more")
            withExtendedLifetime(clients) {}
        }
    }
}
