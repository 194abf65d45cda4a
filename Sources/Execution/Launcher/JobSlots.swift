package import Model
import Synchronization

/// The slots for jobs, which limit how many may run at once; the others wait. A released slot goes to a waiting job, never to one that comes later.
/// The order is: lowest priority number, then the bot with the fewest slots, then first come. So a user's job waits for one job to end, not for all
/// jobs of a bot with many configurations.
package final class JobSlots: Sendable {
    /// A request for a slot.
    package struct Claim: Sendable {
        /// The priority of the job's integration. A lower number goes first.
        package var priority: Int
        /// The bot; `nil` if the job belongs to none.
        package var bot: Name?

        package init(priority: Int = 0, bot: Name? = nil) { (self.priority, self.bot) = (priority, bot) }
    }

    private struct Waiter {
        var key: Int
        var claim: Claim
        var continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        /// The number of slots.
        var total: Int
        /// The number of free slots. It is positive only if no job waits. If it is negative, that many jobs run above the limit.
        var free: Int
        var waiting: [Waiter] = []
        /// The number of slots that each bot's jobs have. Bots without slots are not listed.
        var load: [Name: Int] = [:]
        /// The keys of requests that were canceled before they waited.
        var abandoned: Set<Int> = []
        var next = 0

        mutating func count(_ claim: Claim, by number: Int) {
            guard let bot = claim.bot else { return }
            let count = load[bot, default: 0] + number
            load[bot] = count > 0 ? count : nil
        }

        /// Removes and returns the request that is next; `nil` if none waits.
        mutating func takeNext() -> Waiter? {
            func rank(_ waiter: Waiter) -> (Int, Int, Int) {
                (waiter.claim.priority, waiter.claim.bot.map { load[$0, default: 0] } ?? 0, waiter.key)
            }
            guard let index = waiting.indices.min(by: { rank(waiting[$0]) < rank(waiting[$1]) }) else { return nil }
            let waiter = waiting.remove(at: index)
            count(waiter.claim, by: 1)
            return waiter
        }
    }
    private let state: Mutex<State>

    /// - Parameter count: The number of slots, at least 1.
    package init(count: Int) { state = Mutex(State(total: max(1, count), free: max(1, count))) }

    /// Changes the number of slots. Jobs that have a slot keep it. More slots go to waiting requests at once; with fewer slots, requests wait until
    /// fewer jobs run than the new limit.
    /// - Parameter count: The number of slots, at least 1.
    package func resize(to count: Int) {
        let waiters = state.withLock { state -> [Waiter] in
            state.free += max(1, count) - state.total
            state.total = max(1, count)
            var next: [Waiter] = []
            while state.free > 0, let waiter = state.takeNext() {
                state.free -= 1
                next.append(waiter)
            }
            return next
        }
        for waiter in waiters { waiter.continuation.resume() }
    }

    /// Runs `body` with a slot, as soon as one is free.
    /// - Throws: `CancellationError` if the task is canceled while it waits; the errors of `body`.
    package func withSlot<Value: Sendable>(_ body: () async throws -> Value) async throws -> Value {
        try await acquire()
        defer { release() }
        return try await body()
    }

    /// Waits for a slot and takes it. The caller must release it with `give`.
    /// - Throws: `CancellationError` if the task is canceled while it waits. There is then no slot to release.
    package func acquire(_ claim: Claim = Claim()) async throws {
        try Task.checkCancellation()
        let key = state.withLock { state in
            state.next += 1
            return state.next
        }
        // If the cancellation came after the slot was granted, its key is still in the set.
        defer { state.withLock { _ = $0.abandoned.remove(key) } }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                let outcome: Result<Void, any Error>? = state.withLock { state in
                    if state.abandoned.remove(key) != nil { return .failure(CancellationError()) }
                    if state.free > 0 {
                        state.free -= 1
                        state.count(claim, by: 1)
                        return .success(())
                    }
                    state.waiting.append(Waiter(key: key, claim: claim, continuation: continuation))
                    return nil
                }
                if let outcome { continuation.resume(with: outcome) }
            }
        } onCancel: {
            let waiter = state.withLock { state -> CheckedContinuation<Void, any Error>? in
                guard let index = state.waiting.firstIndex(where: { $0.key == key }) else {
                    state.abandoned.insert(key)
                    return nil
                }
                return state.waiting.remove(at: index).continuation
            }
            waiter?.resume(throwing: CancellationError())
        }
    }

    /// Takes a slot for a job that already runs, whether one is free or not. Later requests wait until fewer jobs run than the limit.
    package func occupy(_ claim: Claim = Claim()) {
        state.withLock { state in
            state.free -= 1
            state.count(claim, by: 1)
        }
    }

    /// Releases a slot, which goes directly to the next request.
    /// - Parameter claim: The claim with which it was taken.
    package func release(_ claim: Claim = Claim()) {
        let waiter = state.withLock { state -> Waiter? in
            state.count(claim, by: -1)
            let next = state.free < 0 ? nil : state.takeNext()
            if next == nil { state.free += 1 }
            return next
        }
        waiter?.continuation.resume()
    }

    /// The waiting requests, in the order in which they came.
    package var waiting: [Claim] { state.withLock { $0.waiting.map(\.claim) } }
}
