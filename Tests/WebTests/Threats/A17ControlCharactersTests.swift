import Model
import TestSupport
import Testing

@testable import Web

/// Line ends and zeros that would begin another header, or end one.
@Suite struct A17ControlCharactersTests {
    private static let encoded = [
        "%0d%0aX-Injected:%201", "%0aX-Injected:%201", "%0d%0a%0d%0aHTTP/1.1%20200%20OK", "%00", "%0d", "%e2%80%a8X",
        "%c2%85X",
    ]

    @Test(arguments: encoded) func testA17ThatAnEncodedLineEndReachesNoHeader(_ text: String) async throws {
        try await withWeb { web in
            try await SampleContent(web: web).fill()
            for path in [
                "/files/kit/latest/\(text)", "/files/kit/1.0.0/\(text)", "/files/\(text)", "/files/kit/\(text)/",
                "/bots/kit/\(text)",
                "/files/kit/latest/kit-source.tar.gz\(text)",
                "/api/v1/bots/kit/integrations/1/artifacts/release/\(text)",
                "/badge/\(text).svg", "/registry/acme/\(text)", "/api/v1/bots/kit/tests/history?name=\(text)",
                "/?branch=\(text)",
                "/files/kit/latest/kit-source.tar.gz?x=\(text)", "/webhooks/\(text)",
            ] {
                let answer = try await RawAnswer.exchange(
                    "GET \(path) HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", port: web.port)
                let head = answer.pieces("\r\n\r\n")[0].lowercased()
                let lines = head.split(whereSeparator: \.isNewline)
                #expect(!lines.contains { $0.hasPrefix("x-injected") }, "\(path): \(head)")
                #expect(answer.pieces("HTTP/1.1 ").count == 2, "\(path): a second answer")
                #expect(!head.contains("\0"))
            }
        }
    }

    @Test(arguments: [
        "GET /health HTTP/1.1\r\nHost: a\r\nX-A: b\rX-Injected: 1\r\n\r\n",
        "GET /health HTTP/1.1\r\nHost: a\r\nX-A: b\0c\r\n\r\n",
        "GET /he\0alth HTTP/1.1\r\nHost: a\r\n\r\n", "GET /health\r HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /health HTTP/1.1\r\nHost: a\r\nX-A\n: b\r\n\r\n", "GET /health HTTP/1.1\r\nHost: a\0\r\n\r\n",
        "GE\nT /health HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /health HTTP/1.1\r\nHost: a\r\nX-A: b\r\n X-Injected: 1\r\n\r\n",
    ])
    func testA17ThatARawOneIsRefused(_ request: String) async throws {
        try await withWeb { web in
            let answer = try await RawAnswer.exchange(request, port: web.port)
            #expect(answer.hasPrefix("HTTP/1.1 400 "), "\(answer)")
            #expect(answer.pieces("HTTP/1.1 ").count == 2)
        }
    }

    /// A file's name, chosen by a job, in the header that names a download.
    @Test(arguments: [
        "a\r\nX-Injected: 1", "a\"; filename=\"b.html", "a\u{0}b", "ä\u{1F600}.txt", "a\nb", "a;b=c", "a%0d%0ab",
    ])
    func testA17ThatADownloadsNameStaysInItsHeader(_ name: String) {
        let value = FileMediaType.disposition(name)
        #expect(value.utf8.allSatisfy { (0x20..<0x7F).contains($0) }, "\(value)")
        #expect(value.utf8.count { $0 == UInt8(ascii: "\"") } == 2, "\(value)")
    }
}
