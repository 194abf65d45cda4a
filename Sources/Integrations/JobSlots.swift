import Synchronization

/// How many jobs may run at once; the others wait in the order in which they came.
package final class JobSlots: Sendable {
    private struct State {
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

    private func take() async throws {
        try Task.checkCancellation()
        let key: Int? = state.withLock { state in
            if state.free > 0 {
                state.free -= 1
                return nil
            }
            state.next += 1
            return state.next
        }
        guard let key else { return }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                let isLate = state.withLock { state in
                    if state.abandoned.remove(key) != nil { return true }
                    state.waiting.append((key, continuation))
                    return false
                }
                if isLate { continuation.resume(throwing: CancellationError()) } else { passOn() }
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

    private func give() {
        state.withLock { $0.free += 1 }
        passOn()
    }

    /// Hands a free slot to the first that waits, if there are both.
    private func passOn() {
        let waiter = state.withLock { state -> CheckedContinuation<Void, any Error>? in
            guard state.free > 0, !state.waiting.isEmpty else { return nil }
            state.free -= 1
            return state.waiting.removeFirst().continuation
        }
        waiter?.resume()
    }
}
