package import Model
import Synchronization

/// How many jobs may run at once; the others wait. A slot that is given back goes to the one that waits with the lowest priority's
/// number, then to the bot with the fewest jobs that have one, then to the first that came; never to a newcomer. So a person's job
/// waits for a job's end, not for that of all others of a bot with many configurations.
package final class JobSlots: Sendable {
    /// Who asks for a slot.
    package struct Claim: Sendable {
        /// As of `Scheduler.priority`: lower goes first.
        package var priority: Int
        /// Nothing: it is not one of a bot's.
        package var bot: Name?

        package init(priority: Int = 0, bot: Name? = nil) { (self.priority, self.bot) = (priority, bot) }
    }

    private struct Waiter {
        var key: Int
        var claim: Claim
        var continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        /// Above 0 only as long as nobody waits; below it, so many run beside those that may.
        var free: Int
        var waiting: [Waiter] = []
        /// How many slots each bot's jobs have; none is not kept.
        var load: [Name: Int] = [:]
        /// Waiters cancelled before they could wait.
        var abandoned: Set<Int> = []
        var next = 0

        mutating func count(_ claim: Claim, by number: Int) {
            guard let bot = claim.bot else { return }
            let count = load[bot, default: 0] + number
            load[bot] = count > 0 ? count : nil
        }

        /// Takes the next one from those that wait.
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

    /// - Parameter count: ≥ 1.
    package init(count: Int) { state = Mutex(State(free: max(1, count))) }

    /// Runs `body` when a slot is free.
    /// - Throws: `CancellationError` when the task is cancelled while it waits; whatever `body` throws.
    package func withSlot<Value: Sendable>(_ body: () async throws -> Value) async throws -> Value {
        try await take()
        defer { give() }
        return try await body()
    }

    /// Waits for a slot and takes it; `give` gives it back.
    /// - Throws: `CancellationError` when the task is cancelled while it waits; there is then no slot to give back.
    package func take(_ claim: Claim = Claim()) async throws {
        try Task.checkCancellation()
        let key = state.withLock { state in
            state.next += 1
            return state.next
        }
        // A cancellation that came after the slot leaves its key behind.
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

    /// Takes a slot for what runs already, whether one is free or not: the next one waits until as many as may run do.
    package func occupy(_ claim: Claim = Claim()) {
        state.withLock { state in
            state.free -= 1
            state.count(claim, by: 1)
        }
    }

    /// Gives a slot back: straight on to the next that waits.
    /// - Parameter claim: With which it was taken.
    package func give(_ claim: Claim = Claim()) {
        let waiter = state.withLock { state -> Waiter? in
            state.count(claim, by: -1)
            let next = state.free < 0 ? nil : state.takeNext()
            if next == nil { state.free += 1 }
            return next
        }
        waiter?.continuation.resume()
    }

    /// Who waits, in the order in which they came.
    package var waiting: [Claim] { state.withLock { $0.waiting.map(\.claim) } }
}
