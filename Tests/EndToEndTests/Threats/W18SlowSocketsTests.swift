import TestSupport
import Testing

/// Row W18: more connections than the limit, each of which has begun a request.
@Suite(.threat("W18"), .enabled(if: ManyDescriptors.raise(to: 9000), "few descriptors")) struct W18SlowSocketsTests {
    @Test(
        .proves(
            .intake,
            "Slow clients: a head and a body have 30 s each; if connections run short, the one that delays longest is closed (W18)"
        ), .program("curl"))
    func testThatRequestsThatDoNotGoOnHoldNobodyUp() async throws {
        try await withDaemon { daemon in
            // given
            try await daemon.expectAnswers("w18-before")

            // when
            var clients: [SlowClient] = []
            for number in 0..<6000 {
                clients.append(try SlowClient("GET /health HTTP/1.1\r\nHost: 127.0", port: daemon.port))
                if number % 1000 == 999 { try await daemon.expectAnswers("w18-\(number)") }
            }

            // then: the first ones were closed to make room
            #expect(await clients[0].status() == 0)
            clients[5999].send(".0.1\r\n\r\n")
            #expect(await clients[5999].status() == 200)
        }
    }
}
