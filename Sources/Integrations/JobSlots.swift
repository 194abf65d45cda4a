import Synchronization

/// How many jobs may run at once; the others wait in the order in which they came. A slot that is given back goes to the
/// first that waits, never to a newcomer.
package final class JobSlots: Sendable {
    private struct State {
        /// Above 0 only as long as nobody waits.
        var free: Int
        var waiting: [(key: Int, continuation: CheckedContinuation<Void, any Error>)] = []
        /// Waiters cancelled before they could wait.
        var abandoned: Set<Int> = []
        var next = 0
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
    package func take() async throws {
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
                        return .success(())
                    }
                    state.waiting.append((key, continuation))
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

    /// Takes a slot where one is free now, which nobody waits for; `give` gives it back.
    /// - Returns: Whether it did.
    package func takeFree() -> Bool {
        state.withLock { state in
            guard state.free > 0 else { return false }
            state.free -= 1
            return true
        }
    }

    /// Gives a slot back: straight on to the first that waits.
    package func give() {
        let waiter = state.withLock { state -> CheckedContinuation<Void, any Error>? in
            if state.waiting.isEmpty {
                state.free += 1
                return nil
            }
            return state.waiting.removeFirst().continuation
        }
        waiter?.resume()
    }
}
