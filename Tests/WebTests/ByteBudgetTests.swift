import Testing

@testable import Web

@Suite struct ByteBudgetTests {
    @Test func testThatWhatIsLetGoIsThereForOthers() async throws {
        let budget = ByteBudget(10)
        for _ in 1...3 {
            let share = try await budget.take(10)
            withExtendedLifetime(share) {}
        }
    }

    @Test func testThatWhoNeedsMoreThanIsLeftWaitsInOrder() async throws {
        // given
        let budget = ByteBudget(10)
        var first: ByteBudget.Share? = try await budget.take(6)
        let order = AsyncStream.makeStream(of: Int.self)

        // when
        let large = Task {
            let share = try await budget.take(10)
            order.continuation.yield(10)
            withExtendedLifetime(share) {}
        }
        while budget.waitingCount < 1 { await Task.yield() }
        // It would fit, and comes after the one that waits.
        let small = Task {
            let share = try await budget.take(1)
            order.continuation.yield(1)
            withExtendedLifetime(share) {}
        }
        while budget.waitingCount < 2 { await Task.yield() }
        withExtendedLifetime(first) {}
        first = nil
        try await large.value
        try await small.value
        order.continuation.finish()

        // then
        let found = await order.stream.reduce(into: []) { $0.append($1) }
        #expect(found == [10, 1])
    }

    @Test func testThatOnlySoManyWait() async throws {
        // given
        let budget = ByteBudget(1)
        var share: ByteBudget.Share? = try await budget.take(1)
        let waiting = (1...ByteBudget.maximumWaiting).map { _ in
            Task { withExtendedLifetime(try await budget.take(1)) {} }
        }
        while budget.waitingCount < ByteBudget.maximumWaiting { await Task.yield() }

        // when
        let refusal = await #expect(throws: Problem.self) { try await budget.take(1) }

        // then
        #expect(refusal?.status == 503)
        withExtendedLifetime(share) {}
        share = nil
        for task in waiting { try await task.value }
    }
}
