import Model
import NIOCore
import NIOEmbedded
import TestSupport
import Testing

@testable import Web

/// The choice of connections to close when there are too many. The rest is in `RequestDeadlinesTests`.
@Suite struct ConnectionLimitTests {
    private static func channel() throws -> EmbeddedChannel {
        let channel = EmbeddedChannel()
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        return channel
    }

    @Test(
        .proves(
            .intake,
            "Limits for each client apply by address, also behind a proxy in `proxies`; loopback and the Unix socket have none"
        ))
    func testThatAClientsOwnConnectionsMakeRoomForItsNewOne() throws {
        // given
        let limit = ConnectionLimit(limit: 10, clientLimit: 2)
        let client = try #require(IPAddress("192.0.2.7"))
        let (other, mine) = (try Self.channel(), try (1...3).map { _ in try Self.channel() })
        _ = limit.enter(other, client: IPAddress("192.0.2.8"))

        // when
        for channel in mine { _ = limit.enter(channel, client: client) }

        // then
        #expect(mine.map(RequestDeadlinesTests.isOpen) == [false, true, true])
        #expect(RequestDeadlinesTests.isOpen(other))
    }

    @Test(.proves(.intake, "The memory of a crowd of connections is given back when it has gone"))
    func testThatTheEndOfACrowdIsReportedOnce() throws {
        // given
        let reports = Locked(0)
        let limit = ConnectionLimit(limit: 1000) { reports.withLock { $0 += 1 } }
        let channel = try Self.channel()
        let numbers = (1...ConnectionLimit.crowd).map { _ in limit.enter(channel) }

        // when
        for number in numbers[..<(ConnectionLimit.crowd * 3 / 4 - 1)] { limit.leave([number]) }

        // then
        #expect(reports.value == 0)
        for number in numbers[(ConnectionLimit.crowd * 3 / 4 - 1)...] { limit.leave([number]) }
        #expect(reports.value == 1)
        // Few connections are not over the limit
        limit.leave([limit.enter(channel)])
        #expect(reports.value == 1)
    }

    @Test func testThatAClientsNewConnectionGoesWhereItsOthersAreBeingAnswered() throws {
        // given
        let limit = ConnectionLimit(limit: 10, clientLimit: 2)
        let client = try #require(IPAddress("192.0.2.7"))
        let mine = try (1...3).map { _ in try Self.channel() }
        for channel in mine.prefix(2) { #expect(limit.endWait(limit.enter(channel, client: client))) }

        // when
        let number = limit.enter(mine[2], client: client)

        // then
        #expect(mine.map(RequestDeadlinesTests.isOpen) == [true, true, false])
        // When it has left, there is room for one of two
        limit.leave([number], client: client)
        limit.leave([], client: client)
        let next = try Self.channel()
        _ = limit.enter(next, client: client)
        #expect(RequestDeadlinesTests.isOpen(next))
    }

    /// The connection of a client that requests a page and does not read it. Only this limit would ever close it.
    @Test(
        .proves(
            .intake,
            "Slow clients: a head and a body have 30 s each; if connections run short, the one that delays longest is closed (W18)"
        ))
    func testW18ThatAnAnswerThatNobodyTakesMakesRoom() throws {
        // given
        let limit = ConnectionLimit(limit: 2)
        let (unread, answered) = (
            try RequestDeadlinesTests.connection(limit), try RequestDeadlinesTests.connection(limit)
        )
        for channel in [unread, answered] {
            try RequestDeadlinesTests.send("GET /a HTTP/1.1\r\nHost: a\r\n\r\n", channel)
        }
        unread.isWritable = false
        unread.pipeline.fireChannelWritabilityChanged()

        // when
        let new = try RequestDeadlinesTests.connection(limit)

        // then
        #expect([unread, answered, new].map(RequestDeadlinesTests.isOpen) == [false, true, true])
    }

    @Test func testThatAnAnswerThatIsTakenAfterAllStays() throws {
        // given
        let limit = ConnectionLimit(limit: 2)
        let (slow, idle) = (try RequestDeadlinesTests.connection(limit), try RequestDeadlinesTests.connection(limit))
        try RequestDeadlinesTests.send("GET /a HTTP/1.1\r\nHost: a\r\n\r\n", slow)
        for isWritable in [false, true] {
            slow.isWritable = isWritable
            slow.pipeline.fireChannelWritabilityChanged()
        }

        // when
        let new = try RequestDeadlinesTests.connection(limit)

        // then
        #expect([slow, idle, new].map(RequestDeadlinesTests.isOpen) == [true, false, true])
    }
}
