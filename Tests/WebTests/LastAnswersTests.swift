import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTPTypes
import TestSupport
import Testing

@testable import Web

/// Answers after which the connection ends.
@Suite(
    .proves(.intake, "A connection of HTTP/1.0 or with `Connection: close` ends with a complete answer that says so"))
struct LastAnswersTests {
    private static func send(_ part: HTTPResponsePart, _ channel: EmbeddedChannel) {
        channel.writeAndFlush(part, promise: nil)
    }

    private static func text(_ channel: EmbeddedChannel) throws -> String {
        var text = ""
        while let bytes = try channel.readOutbound(as: ByteBuffer.self) { text += String(buffer: bytes) }
        return text
    }

    /// Some clients read until the end: `ab`, old proxies. A file comes from the disk first, then from memory.
    @Test(arguments: ["/health", "/products/kit", "/files/kit/1.4.2/kit-source.tar.gz"])
    func testThatAConnectionOfHTTP10EndsWithItsAnswer(path: String) async throws {
        try await FileServerTests.withVersions { web in
            for _ in 1...2 {
                // when
                let request = "GET \(path) HTTP/1.0\r\n\r\n"
                let text = try await RawAnswer.exchange(request + request, port: web.port)
                // then
                #expect(text.hasPrefix("HTTP/1.1 200 "), "\(text)")
                expectContains(text.lowercased(), "\r\nconnection: close\r\n")
                #expect(text.ranges(of: "HTTP/1.1 ").count == 1, "a second answer: \(text)")
            }
        }
    }

    /// RFC 9112, section 9.6. Without the field a client sends its next request on a connection that is being closed.
    @Test(arguments: ["close", "Close", "keep-alive, close"])
    func testThatTheAnswerToAClosingRequestSaysSo(value: String) async throws {
        try await FileServerTests.withVersions { web in
            for path in ["/health", "/products/kit", "/files/kit/1.4.2/kit-source.tar.gz", "/none"] {
                // when
                let get = "GET \(path) HTTP/1.1\r\nHost: a\r\n"
                let text = try await RawAnswer.exchange(
                    "\(get)\r\n\(get)Connection: \(value)\r\n\r\n\(get)\r\n", port: web.port)
                // then
                let answers = text.lowercased().pieces("http/1.1 ").dropFirst()
                #expect(answers.count == 2, "\(text)")
                #expect(answers.map { $0.contains("\r\nconnection: close\r\n") } == [false, true], "\(text)")
            }
        }
    }

    @Test func testThatTheLastAnswerOfAStoppingServiceSaysSo() throws {
        // given
        let channel = try RequestDeadlinesTests.connection()
        try RequestDeadlinesTests.send("GET /a HTTP/1.1\r\nHost: a\r\n\r\n", channel)
        // when
        channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
        Self.send(.head(.init(status: .ok, headerFields: [.contentLength: "0"])), channel)
        Self.send(.end(nil), channel)
        // then
        expectContains(try Self.text(channel), "\r\nconnection: close\r\n")
    }

    /// The length of the answer is not known beforehand.
    @Test func testThatNoChunksAreSentToHTTP10() throws {
        // given
        let channel = try RequestDeadlinesTests.connection()
        try RequestDeadlinesTests.send("GET /a HTTP/1.0\r\n\r\n", channel)
        // when
        Self.send(.head(.init(status: .ok)), channel)
        Self.send(.body(ByteBuffer(string: "abc")), channel)
        Self.send(.end(nil), channel)
        // then
        let text = try Self.text(channel)
        #expect(text == "HTTP/1.0 200 OK\r\nconnection: close\r\n\r\nabc")
        #expect(!channel.isActive)
    }

    /// `curl --http2` and Java's client ask any server for another protocol.
    @Test(arguments: ["HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: h2c", "HTTP/1.0"])
    func testThatNoAnswerIsCutForAClientThatIsSlow(rest: String) throws {
        // given
        let channel = try RequestDeadlinesTests.connection()
        let gate = FlushGate()
        try channel.pipeline.syncOperations.addHandler(gate, position: .first)
        try RequestDeadlinesTests.send("GET /a \(rest)\r\n\r\n", channel)
        // when
        Self.send(.head(.init(status: .ok, headerFields: [.contentLength: "3"])), channel)
        Self.send(.body(ByteBuffer(string: "abc")), channel)
        Self.send(.end(nil), channel)
        // then
        #expect(channel.isActive)
        gate.open()
        #expect(try Self.text(channel).hasSuffix("\r\n\r\nabc"))
        #expect(!channel.isActive)
    }

    /// The client has closed its side while it waited for the second answer.
    @Test func testThatAnAnswerThatEndsTheConnectionCutsNoEarlierOne() throws {
        // given: the kernel does not have the first answer yet
        let channel = try RequestDeadlinesTests.connection()
        let gate = FlushGate()
        try channel.pipeline.syncOperations.addHandler(gate, position: .first)
        let get = "GET /a HTTP/1.1\r\nHost: a\r\n\r\n"
        try RequestDeadlinesTests.send(get + get, channel)
        Self.send(.head(.init(status: .ok, headerFields: [.contentLength: "3"])), channel)
        Self.send(.body(ByteBuffer(string: "abc")), channel)
        Self.send(.end(nil), channel)
        // when
        let fields: HTTPFields = [.contentLength: "0", .connection: "close"]
        Self.send(.head(.init(status: .serviceUnavailable, headerFields: fields)), channel)
        Self.send(.end(nil), channel)
        // then
        #expect(channel.isActive)
        gate.open()
        let text = try Self.text(channel)
        expectContains(text, "\r\n\r\nabcHTTP/1.1 503 ")
        #expect(text.lowercased().ranges(of: "\r\nconnection: close\r\n").count == 1, "\(text)")
        #expect(!channel.isActive)
    }

    /// The client would take the answer with the field for the last one.
    @Test func testThatOnlyTheLastOfSeveralAnswersEndsTheConnection() throws {
        // given
        let channel = try RequestDeadlinesTests.connection()
        let get = "GET /a HTTP/1.1\r\nHost: a\r\n\r\n"
        try RequestDeadlinesTests.send(get + get, channel)
        // when: the first has the field, the second does not
        let closing: HTTPFields = [.contentLength: "0", .connection: "close"]
        for fields in [closing, [.contentLength: "0"]] {
            #expect(channel.isActive)
            Self.send(.head(.init(status: .ok, headerFields: fields)), channel)
            Self.send(.end(nil), channel)
        }
        // then
        let answers = try Self.text(channel).lowercased().pieces("http/1.1 ").dropFirst()
        #expect(answers.map { $0.contains("\r\nconnection: close\r\n") } == [false, true], "\(answers)")
        #expect(!channel.isActive)
    }
}
