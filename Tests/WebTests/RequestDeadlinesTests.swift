import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1
import TestSupport
import Testing

@testable import Web

/// Connections with a clock of the test.
@Suite struct RequestDeadlinesTests {
    static let request = "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n"

    /// Returns a connection as the server makes it, with its pipeline.
    static func connection(_ connections: ConnectionLimit = ConnectionLimit(limit: 100)) throws -> EmbeddedChannel {
        let channel = EmbeddedChannel()
        try channel.pipeline.syncOperations.configureHTTPServerPipeline(
            withPipeliningAssistance: false, withErrorHandling: false)
        try channel.pipeline.syncOperations.addHandler(HTTP1ToHTTPServerCodec(secure: false))
        try channel.pipeline.syncOperations.addHandler(RequestDeadlines(connections: connections))
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        return channel
    }

    /// Whether the connection is open. Closing it for others is the next thing that its event loop does.
    static func isOpen(_ channel: EmbeddedChannel) -> Bool {
        channel.embeddedEventLoop.run()
        return channel.isActive
    }

    static func send(_ text: String, _ channel: EmbeddedChannel) throws {
        try channel.writeInbound(ByteBuffer(string: text))
    }

    static func answer(_ channel: EmbeddedChannel) throws {
        try channel.writeOutbound(HTTPResponsePart.head(.init(status: .ok, headerFields: [.contentLength: "0"])))
        try channel.writeOutbound(HTTPResponsePart.end(nil))
    }

    /// Writes an answer that may wait for the client.
    private static func write(_ channel: EmbeddedChannel) {
        channel.write(HTTPResponsePart.head(.init(status: .ok, headerFields: [.contentLength: "0"])), promise: nil)
        channel.writeAndFlush(HTTPResponsePart.end(nil), promise: nil)
    }

    private static func pass(_ seconds: Int64, _ channel: EmbeddedChannel) {
        channel.embeddedEventLoop.advanceTime(by: .seconds(seconds))
    }

    @Test(
        .proves(
            .intake,
            "Slow clients: a head and a body have 30 s each; if connections run short, the one that delays longest is closed (W18)"
        ))
    func testW18ThatAHeadThatComesByteByByteIsNotWaitedFor() throws {
        // given
        let channel = try Self.connection()

        // when
        for character in Self.request.prefix(29) {
            try Self.send(String(character), channel)
            Self.pass(1, channel)
        }

        // then
        #expect(channel.isActive)
        Self.pass(1, channel)
        #expect(!channel.isActive, "it is still open 30 s later")
    }

    @Test(
        .proves(
            .intake,
            "Slow clients: a head and a body have 30 s each; if connections run short, the one that delays longest is closed (W18)"
        ))
    func testW18ThatABodyThatComesByteByByteIsNotWaitedFor() throws {
        let channel = try Self.connection()
        Self.pass(20, channel)
        try Self.send(Self.request, channel)
        for _ in 1...5 {
            Self.pass(5, channel)
            try Self.send("x", channel)
        }
        #expect(channel.isActive)
        Self.pass(5, channel)
        #expect(!channel.isActive, "it is still open 30 s after its head")
    }

    @Test func testThatAnAnswerMayTakeItsTimeAndTheNextRequestHasItsOwn() throws {
        // given
        let channel = try Self.connection()
        try Self.send(Self.request + "123456789", channel)

        // when
        Self.pass(7200, channel)

        // then
        #expect(channel.isActive, "what is being answered was closed")
        try Self.answer(channel)
        Self.pass(29, channel)
        try Self.send(Self.request + "123456789", channel)
        Self.pass(3600, channel)
        #expect(channel.isActive, "the second request was closed")
        try Self.answer(channel)
        Self.pass(30, channel)
        #expect(!channel.isActive, "it is still open 30 s after its last answer")
    }

    @Test func testThatTheNextRequestsTimeBeginsWhenTheFirstIsAnswered() throws {
        // given
        let channel = try Self.connection()
        try Self.send(Self.request + "123456789" + Self.request, channel)

        // when
        Self.pass(3600, channel)

        // then
        #expect(channel.isActive, "what is being answered was closed")
        try Self.answer(channel)
        Self.pass(29, channel)
        #expect(channel.isActive)
        Self.pass(1, channel)
        #expect(!channel.isActive, "the second one's body is waited for")
    }

    /// A counter of requests for more bytes.
    private final class ReadCounter: ChannelOutboundHandler {
        typealias OutboundIn = ByteBuffer
        var count = 0

        func read(context: ChannelHandlerContext) {
            count += 1
            context.read()
        }
    }

    /// The connection of a client that sends two requests at once and does not read.
    @Test(
        .proves(
            .intake,
            "Slow clients: a head and a body have 30 s each; if connections run short, the one that delays longest is closed (W18)"
        ))
    func testW18ThatAnswersThatNobodyTakesEnd() throws {
        // given
        let gate = FlushGate()
        let channel = try Self.connection()
        try channel.pipeline.syncOperations.addHandler(gate, position: .first)
        try Self.send(String(repeating: "GET /a HTTP/1.1\r\nHost: a\r\n\r\n", count: 2), channel)
        // when
        for _ in 1...2 { Self.write(channel) }
        // then
        Self.pass(119, channel)
        #expect(channel.isActive)
        Self.pass(1, channel)
        #expect(!channel.isActive, "it is still open 120 s later")
    }

    @Test(
        .proves(
            .intake,
            "Slow clients: a head and a body have 30 s each; if connections run short, the one that delays longest is closed (W18)"
        ))
    func testW18ThatABodyThatNobodyTakesEnds() throws {
        // given
        let channel = try Self.connection()
        try Self.send("GET /a HTTP/1.1\r\nHost: a\r\n\r\n", channel)
        // when: a body that is written in parts cannot be written any more
        channel.isWritable = false
        channel.pipeline.fireChannelWritabilityChanged()
        Self.pass(119, channel)
        channel.isWritable = true
        channel.pipeline.fireChannelWritabilityChanged()
        Self.pass(200, channel)
        // then: a client that takes some of it continues
        #expect(channel.isActive)
        // when
        channel.isWritable = false
        channel.pipeline.fireChannelWritabilityChanged()
        Self.pass(120, channel)
        // then
        #expect(!channel.isActive)
    }

    @Test(
        .proves(
            .intake,
            "Without a signature header no body is read; a large body stays on the disk until it is verified; forged signatures keep no webhook away (W11)"
        ))
    func testW11ThatWhatIsRefusedBeforeItIsReadIsNotRead() throws {
        // given
        let channel = try Self.connection()
        try Self.send(Self.request, channel)

        let reads = ReadCounter()
        try channel.pipeline.syncOperations.addHandler(reads, position: .first)

        // when
        try Self.answer(channel)
        channel.read()

        // then
        #expect(reads.count == 0)
        #expect(channel.isActive, "nobody could read the answer")
        Self.pass(2, channel)
        #expect(!channel.isActive, "the rest of the body is still taken")
    }

    @Suite struct GivenACrowd {
        private func connection(_ crowd: ConnectionLimit) throws -> EmbeddedChannel {
            try RequestDeadlinesTests.connection(crowd)
        }

        @Test(
            .proves(
                .intake,
                "Slow clients: a head and a body have 30 s each; if connections run short, the one that delays longest is closed (W18)"
            ))
        func testW18ThatWhoWaitsLongestMakesRoom() throws {
            // given
            let crowd = ConnectionLimit(limit: 3)
            let waiting = try (1...3).map { _ in try connection(crowd) }

            // when
            let new = try connection(crowd)

            // then
            #expect(waiting.map(RequestDeadlinesTests.isOpen) == [false, true, true])
            #expect(new.isActive)
        }

        @Test func testW18ThatWhoOwesABodyMakesRoomToo() throws {
            let crowd = ConnectionLimit(limit: 2)
            let (first, second) = (try connection(crowd), try connection(crowd))
            for channel in [second, first] { try RequestDeadlinesTests.send(RequestDeadlinesTests.request, channel) }
            let third = try connection(crowd)
            #expect([first, second, third].map(RequestDeadlinesTests.isOpen) == [true, false, true])
        }

        @Test func testThatWhatIsAnsweredStays() throws {
            // given
            let crowd = ConnectionLimit(limit: 2)
            let (asking, idle) = (try connection(crowd), try connection(crowd))
            try RequestDeadlinesTests.send(RequestDeadlinesTests.request + "123456789", asking)

            // when
            let new = try connection(crowd)

            // then
            #expect(RequestDeadlinesTests.isOpen(asking) && RequestDeadlinesTests.isOpen(new))
            #expect(!RequestDeadlinesTests.isOpen(idle))
        }

        @Test func testThatWhoHadItsAnswerIsTheLastToGo() throws {
            let crowd = ConnectionLimit(limit: 2)
            let (first, second) = (try connection(crowd), try connection(crowd))
            try RequestDeadlinesTests.send(RequestDeadlinesTests.request + "123456789", first)
            try RequestDeadlinesTests.answer(first)
            let third = try connection(crowd)
            #expect([first, second, third].map(RequestDeadlinesTests.isOpen) == [true, false, true])
        }

        @Test func testThatThoseThatCloseMakeRoomToo() throws {
            let crowd = ConnectionLimit(limit: 2)
            let (first, second) = (try connection(crowd), try connection(crowd))
            try second.close().wait()
            let third = try connection(crowd)
            #expect([first, second, third].map(RequestDeadlinesTests.isOpen) == [true, false, true])
        }

        @Test func testThatManyComeAndGo() throws {
            let crowd = ConnectionLimit(limit: 5)
            var channels: [EmbeddedChannel] = []
            for _ in 1...1000 { channels.append(try connection(crowd)) }
            #expect(channels.filter(RequestDeadlinesTests.isOpen).count == 5)
            #expect(channels.suffix(5).map(RequestDeadlinesTests.isOpen) == [true, true, true, true, true])
        }
    }
}
