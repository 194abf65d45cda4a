import Execution
import Model
import TestSupport
import Testing

@Suite struct JobSlotsTests {
    /// Bodies that report their beginning, and end at the test's request.
    private final class Gates: Sendable {
        let began: AsyncStream<Int>
        private let begin: AsyncStream<Int>.Continuation
        private let ends = Locked<[Int: CheckedContinuation<Void, Never>]>([:])

        init() { (began, begin) = AsyncStream.makeStream() }

        func body(_ number: Int) async {
            await withCheckedContinuation { continuation in
                ends.withLock { $0[number] = continuation }
                begin.yield(number)
            }
        }

        func end(_ number: Int) { ends.withLock { $0.removeValue(forKey: number) }?.resume() }
    }

    @Test(.proves(.intake, "Slots are given by the same priority and fairness, then in the order in which jobs came"))
    func testThatOnlySoManyRunAndOthersFollowInOrder() async throws {
        // given
        let slots = JobSlots(count: 2)
        let gates = Gates()
        var began = gates.began.makeAsyncIterator()
        try await withThrowingTaskGroup { group in
            for number in 1...2 {
                group.addTask { try await slots.withSlot { await gates.body(number) } }
                _ = await began.next()
            }
            for number in 3...5 {
                // It runs here until it waits.
                group.addImmediateTask { try await slots.withSlot { await gates.body(number) } }
            }

            // when, then
            gates.end(2)
            #expect(await began.next() == 3)
            gates.end(1)
            #expect(await began.next() == 4)
            gates.end(3)
            #expect(await began.next() == 5)
            gates.end(4)
            gates.end(5)
            try await group.waitForAll()
        }
    }

    @Test(
        .proves(
            .programs,
            "`concurrency` changes while the service runs: jobs go on, and the next ones follow the new number"))
    func testThatTheNumberOfSlotsChangesWhileJobsRun() async throws {
        // given
        let slots = JobSlots(count: 1)
        let gates = Gates()
        var began = gates.began.makeAsyncIterator()
        try await withThrowingTaskGroup { group in
            group.addTask { try await slots.withSlot { await gates.body(1) } }
            _ = await began.next()
            for number in 2...4 {
                group.addImmediateTask { try await slots.withSlot { await gates.body(number) } }
            }
            // when: two more run at once
            slots.resize(to: 3)
            // then
            let next = [await began.next(), await began.next()]
            #expect(Set(next) == [2, 3])
            #expect(slots.waiting.count == 1)
            // when: with one slot, three ends are needed before the fourth begins
            slots.resize(to: 1)
            gates.end(1)
            gates.end(2)
            #expect(slots.waiting.count == 1)
            gates.end(3)
            // then
            #expect(await began.next() == 4)
            gates.end(4)
            try await group.waitForAll()
        }
    }

    /// Takes a slot for each claim in turn, with one free slot, and returns the order in which they got it.
    private func order(_ claims: [(String, JobSlots.Claim)]) async throws -> [String] {
        let slots = JobSlots(count: 1)
        let order = Locked<[String]>([])
        try await slots.acquire()
        try await withThrowingTaskGroup { group in
            for (name, claim) in claims {
                // It runs here until it waits.
                group.addImmediateTask {
                    try await slots.acquire(claim)
                    order.withLock { $0.append(name) }
                    slots.release(claim)
                }
            }
            slots.release()
            try await group.waitForAll()
        }
        return order.value
    }

    @Test(.proves(.intake, "Slots are given by the same priority and fairness, then in the order in which jobs came"))
    func testThatAPersonsJobDoesNotWaitForALargeMatrix() async throws {
        // given
        let nightly = JobSlots.Claim(priority: Cause.schedule.priority, bot: Name(nearest: "kit"))
        let person = JobSlots.Claim(priority: Cause.person.priority, bot: Name(nearest: "app"))

        // when, then
        let claims = (1...20).map { ("nightly \($0)", nightly) } + [("person", person)]
        #expect(try await order(claims).first == "person")
    }

    @Test(.proves(.intake, "Slots are given by the same priority and fairness, then in the order in which jobs came"))
    func testThatBotsTakeTurns() async throws {
        // given: a bot with three jobs, and one whose first job comes after them
        let slots = JobSlots(count: 2)
        let (kit, app) = (JobSlots.Claim(bot: Name(nearest: "kit")), JobSlots.Claim(bot: Name(nearest: "app")))
        let order = Locked<[String]>([])
        for _ in 1...2 { try await slots.acquire(kit) }
        let waiting = [("kit", kit), ("app 1", app), ("app 2", app)].map { name, claim in
            Task.immediate {
                try await slots.acquire(claim)
                order.withLock { $0.append(name) }
            }
        }

        // when: one of kit's two takes long, and each other ends at once
        slots.release(kit)
        try await waiting[1].value
        #expect(order.value == ["app 1"])

        // and when: app has none again
        slots.release(app)
        try await waiting[2].value
        #expect(order.value == ["app 1", "app 2"])

        // then
        slots.release(kit)
        try await waiting[0].value
    }

    @Test func testThatWhatRunsAlreadyTakesItsPlaceFromTheNext() async throws {
        // given: two that run, with a limit of one
        let slots = JobSlots(count: 1)
        let claim = JobSlots.Claim(bot: Name(nearest: "kit"))
        for _ in 1...2 { slots.occupy(claim) }
        let hasBegun = Locked(false)
        let waiter = Task.immediate {
            try await slots.acquire()
            hasBegun.withLock { $0 = true }
        }

        // when, then
        slots.release(claim)
        #expect(!hasBegun.value)
        slots.release(claim)
        try await waiter.value
        slots.release()
        try await slots.acquire()
    }

    /// A released slot belongs to the first waiter at once, so that no newcomer can take it in between.
    @Test(.proves(.intake, "Slots are given by the same priority and fairness, then in the order in which jobs came"))
    func testThatANewcomerDoesNotOvertakeAWaiter() async throws {
        for _ in 0..<200 {
            // given: the slot is taken, and one waits
            let slots = JobSlots(count: 1)
            let order = Locked<[String]>([])
            try await slots.acquire()
            let waiter = Task.immediate {
                try await slots.acquire()
                order.withLock { $0.append("waiter") }
                slots.release()
            }

            // when: newcomers come from other threads while it is released
            try await withThrowingTaskGroup { group in
                for _ in 0..<4 {
                    group.addTask {
                        try await slots.acquire()
                        order.withLock { $0.append("newcomer") }
                        slots.release()
                    }
                }
                slots.release()
                try await group.waitForAll()
            }
            try await waiter.value

            // then
            #expect(order.value.first == "waiter")
        }
    }

    @Test func testThatACanceledWaiterThrowsAndTakesNoSlot() async throws {
        // given
        let slots = JobSlots(count: 1)
        let gates = Gates()
        var began = gates.began.makeAsyncIterator()
        try await withThrowingTaskGroup { group in
            group.addTask { try await slots.withSlot { await gates.body(1) } }
            _ = await began.next()
            let waiting = Task.immediate { try await slots.withSlot { Issue.record("it must not run") } }

            // when
            waiting.cancel()

            // then
            await #expect(throws: CancellationError.self) { try await waiting.value }
            gates.end(1)
            try await group.waitForAll()
            try await slots.withSlot {}
        }
    }

    @Test func testThatABodyThatThrowsGivesItsSlotBack() async throws {
        // given
        let slots = JobSlots(count: 1)

        // when
        await #expect(throws: CancellationError.self) { try await slots.withSlot { throw CancellationError() } }

        // then
        #expect(try await slots.withSlot { true })
    }

    @Test func testThatManyTasksUseItWithoutLosingASlot() async throws {
        // given
        let slots = JobSlots(count: 3)
        let inside = Locked((now: 0, most: 0))

        // when
        try await withThrowingTaskGroup { group in
            for number in 0..<200 {
                group.addTask {
                    let task = Task {
                        try await slots.withSlot {
                            inside.withLock { state in
                                state.now += 1
                                state.most = max(state.most, state.now)
                            }
                            await Task.yield()
                            inside.withLock { $0.now -= 1 }
                        }
                    }
                    if number.isMultiple(of: 3) { task.cancel() }
                    // Canceled ones throw, or were faster.
                    _ = await task.result
                }
            }
            try await group.waitForAll()
        }

        // then
        #expect(inside.value.now == 0)
        #expect((1...3).contains(inside.value.most))
        try await withThrowingTaskGroup { group in
            for _ in 0..<3 { group.addTask { try await slots.withSlot {} } }
            try await group.waitForAll()
        }
    }
}
