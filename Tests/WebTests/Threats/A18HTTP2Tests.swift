import TestSupport
import Testing

@testable import Web

/// HTTP/2 is off, so attacks by floods of its frames have no target. `ArchitectureTests` shows that it is not linked.
@Suite struct A18HTTP2Tests {
    @Test func testA18ThatHTTP2IsNotSpoken() async throws {
        try await withWeb { web in
            // given: a client's preface (RFC 9113, section 3.4), settings, and an ALTSVC frame
            let frames =
                "\u{0}\u{0}\u{0}\u{4}\u{0}\u{0}\u{0}\u{0}\u{0}"
                + "\u{0}\u{0}\u{2}\u{A}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}"
            for _ in 1...3 {
                // when
                let answer = try await RawAnswer.exchange("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frames, port: web.port)
                // then
                #expect(answer.hasPrefix("HTTP/1.1 400 "), "\(answer)")
            }
            try await web.expect(200, "GET", "/health")
        }
    }

    @Test func testA18ThatNobodyIsTakenOverToIt() async throws {
        try await withWeb { web in
            let answer = try await RawAnswer.exchange(
                "GET /health HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
                    + "HTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA\r\n\r\nPRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
                    + String(
                        repeating: "\u{0}\u{0}\u{4}\u{3}\u{0}\u{0}\u{0}\u{0}\u{1}\u{0}\u{0}\u{0}\u{8}", count: 10_000),
                port: web.port)
            #expect(answer.hasPrefix("HTTP/1.1 200 "), "\(answer)")
            #expect(!answer.contains(" 101 ") && answer.pieces("HTTP/1.1 ").count == 2)
            #expect(!answer.lowercased().contains("upgrade: ") && !answer.lowercased().contains("alt-svc"))
            try await web.expect(200, "GET", "/health")
        }
    }
}
