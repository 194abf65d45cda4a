import Model
import NIOCore
import NIOEmbedded
import TestSupport
import Testing

@testable import Web

/// Limits with a clock of the test.
@Suite struct HolderLimitTests {
    /// A client with its connection, and the bytes that it has sent or taken.
    private struct Client {
        let channel: EmbeddedChannel
        let progress = Progress()

        init() throws {
            channel = EmbeddedChannel()
            try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        }

        func hold(
            _ amount: Int64, of limit: HolderLimit, as address: String? = nil, hasBegun: Bool = true
        ) throws -> HolderLimit.Holder {
            let asker = Asker(client: address.flatMap { IPAddress($0) }, isKnown: false)
            return try limit.hold(amount, for: asker, on: channel, progress, hasBegun: hasBegun)
        }
    }

    private let seconds = Locked<Int>(0)

    private func limit(_ total: Int64, clientLimit: Int = 10, closesSlowest: Bool = true) -> HolderLimit {
        let (start, seconds) = (ContinuousClock.now, seconds)
        return HolderLimit(
            total: total, clientLimit: clientLimit, closesSlowest: closesSlowest, refusal: "Come again.",
            now: { start + .seconds(seconds.value) })
    }

    @Test(
        .proves(
            .intake,
            "Event streams and downloads have a quarter of the connections each; of downloads, unread answers and bodies the slowest is closed"
        ))
    func testThatTheSlowestLosesItsPlace() throws {
        // given: one that has sent nothing for a minute, and one that has sent more in less time
        let (limit, clients) = (limit(30), try (1...4).map { _ in try Client() })
        let fast = try clients[0].hold(10, of: limit)
        clients[0].progress.add(60_000)
        let slow = try clients[1].hold(10, of: limit)
        clients[1].progress.add(600)
        seconds.withLock { $0 = 50 }
        let late = try clients[2].hold(10, of: limit)
        clients[2].progress.add(100_000)
        seconds.withLock { $0 = 60 }

        // when
        let new = try clients[3].hold(10, of: limit)

        // then
        #expect(clients.map(\.channel.isActive) == [true, false, true, true])
        #expect(limit.held == 30)
        #expect(throws: Problem.self) { try slow.grow(by: 1) }
        withExtendedLifetime((fast, slow, late, new)) {}
    }

    /// Such a client would otherwise always be the slowest.
    @Test(
        .proves(
            .intake,
            "Event streams and downloads have a quarter of the connections each; of downloads, unread answers and bodies the slowest is closed"
        ))
    func testThatWhoHasJustBegunKeepsItsPlace() throws {
        // given
        let (limit, clients) = (limit(10), try (1...2).map { _ in try Client() })
        let first = try clients[0].hold(10, of: limit)

        // when, then
        let refusal = #expect(throws: Problem.self) { try clients[1].hold(10, of: limit) }
        #expect(refusal?.status == 503)
        #expect(clients[0].channel.isActive)
        seconds.withLock { $0 = 1 }
        let second = try clients[1].hold(10, of: limit)
        #expect(clients.map(\.channel.isActive) == [false, true])
        withExtendedLifetime((first, second)) {}
    }

    /// An export that is still computed has no bytes to read, so its client is not slow.
    @Test func testThatAnAnswerThatIsStillComputedKeepsItsPlace() throws {
        // given
        let (limit, clients) = (limit(20), try (1...4).map { _ in try Client() })
        let computed = try clients[0].hold(10, of: limit, hasBegun: false)
        let slow = try clients[1].hold(10, of: limit)
        clients[1].progress.add(600)
        seconds.withLock { $0 = 60 }

        // when
        let new = try clients[2].hold(10, of: limit)

        // then
        #expect(clients[..<3].map(\.channel.isActive) == [true, false, true])

        // Its rate counts from the beginning of the sending
        computed.begin()
        clients[2].progress.add(1)
        #expect(throws: Problem.self) { try clients[3].hold(20, of: limit) }
        seconds.withLock { $0 = 61 }
        let last = try clients[3].hold(10, of: limit)
        #expect(clients.map(\.channel.isActive) == [false, false, true, true])
        withExtendedLifetime((computed, slow, new, last)) {}
    }

    @Test func testThatWhatGrowsTakesFromTheSlowest() throws {
        // given
        let (limit, clients) = (limit(100), try (1...3).map { _ in try Client() })
        let holders = try clients.map { try $0.hold(30, of: limit) }
        clients[0].progress.add(1000)
        clients[2].progress.add(10)
        seconds.withLock { $0 = 10 }

        // when
        try holders[0].grow(by: 40)

        // then
        #expect(clients.map(\.channel.isActive) == [true, false, true])
        try holders[0].grow(by: 0)
        #expect(throws: Problem.self) { try holders[0].grow(by: 101) }
        withExtendedLifetime(holders) {}
    }

    @Test func testThatWhatIsLetGoIsThereForOthers() throws {
        let (limit, client) = (limit(10), try Client())
        for _ in 1...3 {
            let holder = try client.hold(10, of: limit)
            withExtendedLifetime(holder) {}
        }
        #expect(limit.held == 0)
    }

    @Test(
        .proves(
            .intake,
            "Event streams and downloads have a quarter of the connections each; of downloads, unread answers and bodies the slowest is closed"
        ))
    func testThatStreamsStay() throws {
        // given
        let (limit, clients) = (limit(2, closesSlowest: false), try (1...3).map { _ in try Client() })
        let streams = [try clients[0].hold(1, of: limit), try clients[1].hold(1, of: limit)]
        seconds.withLock { $0 = 3600 }

        // when, then
        #expect(throws: Problem.self) { try clients[2].hold(1, of: limit) }
        #expect(clients.allSatisfy { $0.channel.isActive })
        withExtendedLifetime(streams) {}
    }

    @Test func testThatOneClientHasAShare() throws {
        // given
        let (limit, client) = (limit(100, clientLimit: 2), try Client())
        var holders = [
            try client.hold(1, of: limit, as: "192.0.2.7"), try client.hold(1, of: limit, as: "192.0.2.7"),
        ]

        // when, then
        #expect(throws: Problem.self) { try client.hold(1, of: limit, as: "192.0.2.7") }
        holders.append(try client.hold(1, of: limit, as: "192.0.2.8"))
        holders.append(try client.hold(1, of: limit))
        holders.removeFirst()
        holders.append(try client.hold(1, of: limit, as: "192.0.2.7"))
        #expect(limit.held == 4)
    }
}
