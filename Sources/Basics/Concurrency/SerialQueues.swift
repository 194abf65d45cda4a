import Synchronization

/// A fixed number of serial queues (`SerialQueue`) for bodies that may run in parallel. A body runs on a free queue. If no queue is free, bodies
/// wait in the order of submission. At most one thread per queue blocks.
package final class SerialQueues: Sendable {
    private struct State {
        /// Used as a stack: the queue that became free last is used next, because its thread may still be awake.
        var free: [SerialQueue]
        var waiting: [@Sendable () -> Void] = []
    }

    private let state: Mutex<State>

    /// Creates queues.
    /// - Parameters:
    ///   - label: A name for debuggers; it need not be unique.
    ///   - count: The number of queues, at least 1.
    package init(label: String, count: Int) {
        precondition(count > 0)
        state = Mutex(State(free: (1...count).map { SerialQueue(label: "\(label).\($0)") }))
    }

    /// Runs `body` as soon as a serial queue is free, and returns its result. Involves one other thread only.
    ///
    /// Objects that only the body held are released before this returns. Canceling the task does not stop a body, so a blocking body needs its own
    /// time limit.
    /// - Throws: Only what `body` throws.
    package func run<Value: Sendable, Failure: Error>(
        _ body: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let pending = PendingBody(body)
        let result: Result<Value, Failure> = await withCheckedContinuation { continuation in
            let work: @Sendable () -> Void = { pending.run(continuation) }
            guard let queue = free(orWaiting: work) else { return }
            queue.enqueue { [self] in
                work()
                while let next = next(of: queue) { next() }
            }
        }
        return try result.get()
    }

    /// Returns a free queue. If there is none, queues `work` and returns `nil`.
    private func free(orWaiting work: @escaping @Sendable () -> Void) -> SerialQueue? {
        state.withLock { state in
            if let queue = state.free.popLast() { return queue }
            state.waiting.append(work)
            return nil
        }
    }

    /// Returns the next queued work for a serial queue that has finished a body. If there is none, marks the queue as free and returns `nil`.
    private func next(of queue: SerialQueue) -> (@Sendable () -> Void)? {
        state.withLock { state in
            guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
            state.free.append(queue)
            return nil
        }
    }
}
