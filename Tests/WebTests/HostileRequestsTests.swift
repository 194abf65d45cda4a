import Basics
import Glibc
import Model
import Storage
import TestSupport
import Testing

@testable import Web

/// Requests that no benign client sends, byte for byte.
@Suite struct HostileRequestsTests {
    private static let unsigned = "POST /webhooks/github/kit HTTP/1.1\r\nHost: a\r\n"
    private static let signature = "X-Hub-Signature-256: sha256=" + String(repeating: "0", count: 64) + "\r\n"
    /// Its body is read.
    private static let post = unsigned + signature
    private static let get = "GET /health HTTP/1.1\r\nHost: a\r\n"

    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let text: String
        init(_ name: String, _ text: String) { (self.name, self.text) = (name, text) }
        var testDescription: String { name }
    }

    private static let smuggled = [
        Case(
            "a length and chunks",
            post + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + get + "\r\n"),
        Case("two lengths", post + "Content-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef"),
        Case("the same length twice", post + "Content-Length: 5\r\nContent-Length: 5\r\n\r\nabcde"),
        Case("a list of lengths", post + "Content-Length: 5, 5\r\n\r\nabcde"),
        Case("a length with a sign", post + "Content-Length: +5\r\n\r\nabcde"),
        Case("bare line feeds", "POST /webhooks/github/kit HTTP/1.1\nHost: a\nContent-Length: 0\n\n"),
        Case("a folded line", post + "X-A: b\r\n c\r\nContent-Length: 0\r\n\r\n"),
        Case("another coding", post + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n"),
        Case("chunked not last", post + "Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n"),
        Case("a blank before the colon", post + "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n"),
        Case("chunked twice", post + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        Case(
            "chunks in HTTP/1.0",
            "POST /webhooks/github/kit HTTP/1.0\r\nHost: a\r\n" + signature
                + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        Case("NUL in a field", post + "X-A: a\0b\r\nContent-Length: 0\r\n\r\n"),
        Case("NUL in the path", "GET /he\0alth HTTP/1.1\r\nHost: a\r\n\r\n"),
        Case("a whole URL", "GET http://a/health HTTP/1.1\r\nHost: a\r\n\r\n"),
        Case("a proxy's method", "CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n"),
        Case("no host", "GET /health HTTP/1.1\r\n\r\n"),
        Case("two hosts", get + "Host: b\r\n\r\n"),
        Case("a chunk's size with a sign", post + "Transfer-Encoding: chunked\r\n\r\n+1\r\na\r\n0\r\n\r\n"),
        Case("a chunk of 2^68", post + "Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\na\r\n0\r\n\r\n"),
        Case("a line feed in a chunk's extension", post + "Transfer-Encoding: chunked\r\n\r\n1;a\nb\r\na\r\n0\r\n\r\n"),
        Case("bare line feeds in chunks", post + "Transfer-Encoding: chunked\r\n\r\n1\na\n0\n\n"),
        Case("another version", "GET /health HTTP/2.0\r\nHost: a\r\n\r\n"),
    ]

    /// There is one answer, and the connection is closed. Later bytes are never read as a request.
    @Test(
        .proves(.intake, "What two readers could understand in two ways is 400 and the connection's end (W19)"),
        arguments: smuggled)
    func testW19ThatWhatCanBeReadInTwoWaysIsRefused(_ request: Case) async throws {
        try await withWeb { web in
            let answer = try await RawAnswer.exchange(request.text, port: web.port)
            #expect(answer.hasPrefix("HTTP/1.1 400 "), "\(answer)")
            #expect(answer.ranges(of: "HTTP/1.1 ").count == 1, "a second answer: \(answer)")
        }
    }

    @Test(
        .proves(.intake, "A head has 100 fields and 32 KiB, over that 431 (W12)"),
        arguments: [
            Case("100,000 fields", get + (1...100_000).map { "A\($0): b\r\n" }.joined() + "\r\n"),
            Case("101 fields", get + (1...101).map { "A\($0): b\r\n" }.joined() + "\r\n"),
            Case("a field of 80 KB", get + "A: " + String(repeating: "x", count: 80_000) + "\r\n\r\n"),
            Case("a URI of 1 MB", "GET /" + String(repeating: "x", count: 1_000_000) + " HTTP/1.1\r\nHost: a\r\n\r\n"),
        ])
    func testW12ThatAHeadHasItsLimits(_ request: Case) async throws {
        try await withWeb { web in
            let answer = try await RawAnswer.exchange(request.text, port: web.port)
            // A client that still sends when the connection is closed can miss the answer.
            #expect(answer.isEmpty || answer.hasPrefix("HTTP/1.1 431 "), "\(answer)")
            try await web.expect(200, "GET", "/health")
        }
    }

    /// Later bytes are discarded. The decoder would keep them for a protocol that the server does not speak.
    @Test(
        .proves(
            .intake,
            "Without a signature header no body is read; a large body stays on the disk until it is verified; forged signatures keep no webhook away (W11)"
        ))
    func testW11ThatWhoAsksForAnotherProtocolIsAnsweredAndClosed() async throws {
        try await withWeb { web in
            let answer = try await RawAnswer.exchange(
                Self.get + "Connection: Upgrade\r\nUpgrade: h2c\r\n\r\n" + String(repeating: "x", count: 100_000),
                port: web.port)
            #expect(answer.hasPrefix("HTTP/1.1 200 "), "\(answer)")
            expectContains(answer.lowercased(), "connection: close")
        }
    }

    @Test(
        .proves(
            .intake,
            "Without a signature header no body is read; a large body stays on the disk until it is verified; forged signatures keep no webhook away (W11)"
        ))
    func testW11ThatALengthBeyondTheLimitIsRefusedBeforeItIsRead() async throws {
        try await withWeb { web in
            let answer = try await RawAnswer.exchange(
                Self.post + "Content-Length: 4294967296\r\n\r\n", port: web.port, waitsForEnd: false)
            #expect(answer.hasPrefix("HTTP/1.1 413 "), "\(answer)")
        }
    }

    @Test(
        .proves(
            .intake,
            "Without a signature header no body is read; a large body stays on the disk until it is verified; forged signatures keep no webhook away (W11)"
        ))
    func testW11ThatWithoutASignatureNoBodyIsRead() async throws {
        try await withWeb { web in
            let answer = try await RawAnswer.exchange(
                Self.unsigned + "Content-Length: 20000000\r\n\r\n", port: web.port)
            #expect(answer.hasPrefix("HTTP/1.1 401 "), "\(answer)")
            expectContains(answer.lowercased(), "connection: close")
        }
    }

    @Test(.proves(.intake, "What two readers could understand in two ways is 400 and the connection's end (W19)"))
    func testThatAnAnswerToABodyThatIsNotReadIsTheOnlyOne() async throws {
        try await withWeb { web in
            let answer = try await RawAnswer.exchange(
                Self.unsigned + "Transfer-Encoding: chunked\r\n\r\n+1\r\na\r\n0\r\n\r\n", port: web.port)
            #expect(answer.hasPrefix("HTTP/1.1 401 "), "\(answer)")
            #expect(answer.ranges(of: "HTTP/1.1 ").count == 1, "a second answer: \(answer)")
        }
    }

    @Test(
        .proves(
            .intake,
            "Without a signature header no body is read; a large body stays on the disk until it is verified; forged signatures keep no webhook away (W11)"
        ))
    func testW11ThatChunksWithoutEndAreRefusedAtTheLimit() async throws {
        try await withWeb { web in
            let chunk = "100000\r\n" + String(repeating: "x", count: 1 << 20) + "\r\n"
            let answer = try await RawAnswer.exchange(
                Self.post + "Transfer-Encoding: chunked\r\n\r\n" + String(repeating: chunk, count: 27), port: web.port,
                waitsForEnd: false)
            #expect(answer.hasPrefix("HTTP/1.1 413 "), "\(answer)")
        }
    }

    @Test(
        .proves(.intake, "Nobody without proof starts anything (W15)"),
        arguments: [
            "/git/notifyCommit?url=https://git.example/acme/kit.git", "/webhooks/push/kit", "/webhooks/github/kit",
            "/webhooks/github", "/api/v1/bots/kit/integrations", "/job/kit/build?token=x", "/hook",
            "/buildByToken/build?job=kit",
        ])
    func testW15ThatNobodyWithoutProofStartsAnything(target: String) async throws {
        let file = "repository: https://git.example/acme/kit.git\nwebhook: { secret: kit-webhook }\n"
        try await withWeb(bots: ["kit": file]) { web in
            let before = try await web.store.repositoriesToScan()
            for method in ["GET", "HEAD", "POST", "PUT"] {
                let answer = try await web.send(method, target, body: method == "POST" ? Array("{}".utf8) : [])
                let reads = method != "POST" && target.hasPrefix("/api/")
                #expect([401, 404, 405].contains(answer.status) || reads, "\(method) \(target): \(answer.status)")
            }
            #expect(try await web.store.repositoriesToScan() == before, "somebody is to look at a repository")
            #expect(try await web.store.deliveries().items.isEmpty)
        }
    }
}
