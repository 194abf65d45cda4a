import NIOCore
import NIOEmbedded
import TestSupport
import Testing

@testable import Web

/// Clients that disconnect before they are answered.
@Suite struct ClientDepartureTests {
    private static let threads = ComputingThreads()

    /// Returns only by cancellation.
    private static func waitForCancellation(_ begun: AsyncStream<Void>.Continuation) async throws {
        let (events, continuation) = AsyncStream.makeStream(of: Void.self)
        begun.yield()
        for await _ in events {}
        withExtendedLifetime(continuation) {}
        try Task.checkCancellation()
    }

    private static func connection(_ departure: ClientDeparture) throws -> EmbeddedChannel {
        let channel = EmbeddedChannel(handler: ClientDeparture.Watch(departure))
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        return channel
    }

    @Test(.proves(.intake, "A client that leaves ends the computing of its answer, and waits for no turn"))
    func testThatAClientThatLeavesEndsItsWork() async throws {
        // given
        let departure = ClientDeparture()
        let (begun, continuation) = AsyncStream.makeStream(of: Void.self)
        let work = Task {
            try await departure.canceling(on: Self.threads) { try await Self.waitForCancellation(continuation) }
        }
        for await _ in begun { break }

        // when
        departure.leave()

        // then
        await #expect(throws: CancellationError.self) { try await work.value }
    }

    @Test func testThatNoWorkBeginsForAClientThatHasLeft() async throws {
        // given
        let departure = ClientDeparture()
        departure.leave()

        // when, then
        await #expect(throws: CancellationError.self) {
            try await departure.canceling(on: Self.threads) { try Task.checkCancellation() }
        }
    }

    @Test func testThatACanceledCallerEndsTheWork() async throws {
        // given
        let departure = ClientDeparture()
        let (begun, continuation) = AsyncStream.makeStream(of: Void.self)
        let work = Task {
            try await departure.canceling(on: Self.threads) { try await Self.waitForCancellation(continuation) }
        }
        for await _ in begun { break }

        // when
        work.cancel()

        // then
        await #expect(throws: CancellationError.self) { try await work.value }
        #expect(!departure.hasLeft)
    }

    @Test(.proves(.intake, "A client that leaves ends the computing of its answer, and waits for no turn"))
    func testThatAClosedConnectionIsADeparture() throws {
        // given
        let departure = ClientDeparture()
        let channel = try Self.connection(departure)
        #expect(!departure.hasLeft)

        // when
        _ = try channel.finish()

        // then
        #expect(departure.hasLeft)
    }

    @Test(.proves(.intake, "A client that leaves ends the computing of its answer, and waits for no turn"))
    func testThatAClientThatClosesItsSideHasLeft() throws {
        // given
        let departure = ClientDeparture()
        let channel = try Self.connection(departure)
        #expect(!departure.hasLeft)

        // when
        channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)

        // then
        #expect(departure.hasLeft)
    }

    /// With a real connection over TCP.
    @Test(.proves(.intake, "A client that leaves ends the computing of its answer, and waits for no turn"))
    func testThatAClientThatLeavesWaitsForNoTurn() async throws {
        try await withWeb { web in
            // given: an export is being computed
            let turn = try await web.limits.exports.acquire(.anonymous)
            var client: SlowClient? = try SlowClient(get: "/api/v1/bots/kit/silences", port: web.port)
            await until("it waits") { web.limits.exports.waitingCount == 1 }

            // when
            withExtendedLifetime(client) {}
            client = nil

            // then
            await until("nobody waits") { web.limits.exports.waitingCount == 0 }
            withExtendedLifetime(turn) {}
        }
    }

    /// The client may still read, and earlier answers must not be cut.
    @Test(.proves(.intake, "A client that leaves ends the computing of its answer, and waits for no turn"))
    func testThatAClientThatClosesItsSideGetsALastAnswer() async throws {
        try await withWeb { web in
            // given: an export is being computed
            let turn = try await web.limits.exports.acquire(.anonymous)
            let client = try SlowClient(get: "/api/v1/bots/kit/silences", port: web.port)
            await until("it waits") { web.limits.exports.waitingCount == 1 }

            // when
            client.endSending()

            // then
            let head = await client.head().lowercased()
            #expect(head.hasPrefix("http/1.1 503 "), "\(head)")
            expectContains(head, "\r\nconnection: close\r\n")
            #expect(await client.rest() == 0, "the connection is closed")
            withExtendedLifetime(turn) {}
        }
    }
}
