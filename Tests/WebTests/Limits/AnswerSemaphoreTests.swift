import Model
import TestSupport
import Testing

@testable import Web

@Suite struct AnswerSemaphoreTests {
    private static let known = Asker(client: nil, isKnown: true)
    private static let local = Asker(client: nil, isKnown: true, isLocal: true)

    private static func semaphore(
        count: Int = 1, queue: Int = 2, clientLimit: Int = 10, onIdle: @escaping @Sendable () -> Void = {}
    ) -> AnswerSemaphore {
        AnswerSemaphore(count: count, queue: queue, clientLimit: clientLimit, onIdle: onIdle)
    }

    /// Lets tasks wait one after the other, so that their order is known.
    private static func wait(
        _ semaphore: AnswerSemaphore, _ asker: Asker, _ order: Locked<[String]>, _ name: String
    ) async -> Task<Void, any Error> {
        let before = semaphore.waitingCount
        let task = Task {
            let turn = try await semaphore.acquire(asker)
            order.withLock { $0.append(name) }
            withExtendedLifetime(turn) {}
        }
        while semaphore.waitingCount == before { await Task.yield() }
        return task
    }

    @Test(
        .proves(
            .intake,
            "Pages and exports are computed on separate threads, a few at a time; others wait in a bounded queue, tokens first, or get 503 with `Retry-After`"
        ))
    func testThatOthersWaitForATurnInOrderAndKnownCallersGoFirst() async throws {
        // given
        let (semaphore, order) = (Self.semaphore(), Locked<[String]>([]))
        var turn: AnswerSemaphore.Turn? = try await semaphore.acquire(.anonymous)

        // when
        let tasks = [
            await Self.wait(semaphore, .anonymous, order, "first"),
            await Self.wait(semaphore, .anonymous, order, "second"),
            await Self.wait(semaphore, Self.known, order, "known"),
        ]
        #expect(order.value == [])
        withExtendedLifetime(turn) {}
        turn = nil
        for task in tasks { try await task.value }

        // then
        #expect(order.value == ["known", "first", "second"])
    }

    @Test(
        .proves(
            .intake,
            "Pages and exports are computed on separate threads, a few at a time; others wait in a bounded queue, tokens first, or get 503 with `Retry-After`"
        ))
    func testThatAFullQueueRefusesAnonymousCallersAlone() async throws {
        // given
        let (semaphore, order) = (Self.semaphore(), Locked<[String]>([]))
        var turn: AnswerSemaphore.Turn? = try await semaphore.acquire(.anonymous)
        var tasks = [
            await Self.wait(semaphore, .anonymous, order, "1"), await Self.wait(semaphore, .anonymous, order, "2"),
        ]

        // when
        let refusal = await #expect(throws: Problem.self) { try await semaphore.acquire(.anonymous) }

        // then
        #expect(refusal?.status == 503)
        tasks.append(await Self.wait(semaphore, Self.known, order, "3"))
        tasks.append(await Self.wait(semaphore, Self.known, order, "4"))
        await #expect(throws: Problem.self) { try await semaphore.acquire(Self.known) }
        // Peers of the Unix socket always get their turn.
        tasks.append(await Self.wait(semaphore, Self.local, order, "5"))
        withExtendedLifetime(turn) {}
        turn = nil
        for task in tasks { try await task.value }
        #expect(semaphore.waitingCount == 0)
    }

    @Test(.proves(.intake, "A client that leaves ends the computing of its answer, and waits for no turn"))
    func testThatACanceledCallerGivesItsPlaceUp() async throws {
        // given
        let (semaphore, order) = (Self.semaphore(queue: 1, clientLimit: 1), Locked<[String]>([]))
        let client = Asker(client: IPAddress("192.0.2.7"), isKnown: false)
        var turn: AnswerSemaphore.Turn? = try await semaphore.acquire(.anonymous)
        let task = await Self.wait(semaphore, client, order, "canceled")

        // when
        task.cancel()

        // then
        await #expect(throws: CancellationError.self) { try await task.value }
        let next = await Self.wait(semaphore, client, order, "next")
        withExtendedLifetime(turn) {}
        turn = nil
        try await next.value
        #expect(order.value == ["next"])
    }

    @Test(
        .proves(
            .intake,
            "Pages and exports are computed on separate threads, a few at a time; others wait in a bounded queue, tokens first, or get 503 with `Retry-After`"
        ))
    func testThatOneClientHasAShareOfTheQueue() async throws {
        // given
        let semaphore = Self.semaphore(count: 10, clientLimit: 2)
        let client = Asker(client: IPAddress("192.0.2.7"), isKnown: false)
        var turns = [try await semaphore.acquire(client), try await semaphore.acquire(client)]

        // when, then
        await #expect(throws: Problem.self) { try await semaphore.acquire(client) }
        let other = try await semaphore.acquire(Asker(client: IPAddress("192.0.2.8"), isKnown: false))
        turns.removeLast()
        turns.append(try await semaphore.acquire(client))
        withExtendedLifetime((other, turns)) {}
    }

    @Test func testThatItSaysWhenNothingIsUnderWay() async throws {
        // given
        let idle = Locked(0)
        let semaphore = Self.semaphore(count: 2) { idle.withLock { $0 += 1 } }
        var turns = [try await semaphore.acquire(.anonymous), try await semaphore.acquire(.anonymous)]

        // when, then
        turns.removeLast()
        #expect(idle.value == 0)
        turns.removeLast()
        #expect(idle.value == 1)
    }
}
