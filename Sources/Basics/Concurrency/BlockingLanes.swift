import Synchronization

/// A fixed number of lanes (`BlockingLane`) for bodies that may run in parallel. A body runs on a free lane. If no lane is free, bodies wait in the
/// order of submission. At most one thread per lane blocks.
package final class BlockingLanes: Sendable {
    private struct State {
        /// Used as a stack: the lane that became free last is used next, because its thread may still be awake.
        var free: [BlockingLane]
        var waiting: [@Sendable () -> Void] = []
    }

    private let state: Mutex<State>

    /// Creates lanes.
    /// - Parameters:
    ///   - label: A name for debuggers; it need not be unique.
    ///   - count: The number of lanes, at least 1.
    package init(label: String, count: Int) {
        precondition(count > 0)
        state = Mutex(State(free: (1...count).map { BlockingLane(label: "\(label).\($0)") }))
    }

    /// Runs `body` as soon as a lane is free, and returns its result. Involves one other thread only.
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
            guard let lane = free(orWaiting: work) else { return }
            lane.enqueue { [self] in
                work()
                while let next = next(of: lane) { next() }
            }
        }
        return try result.get()
    }

    /// Returns a free lane. If there is none, queues `work` and returns `nil`.
    private func free(orWaiting work: @escaping @Sendable () -> Void) -> BlockingLane? {
        state.withLock { state in
            if let lane = state.free.popLast() { return lane }
            state.waiting.append(work)
            return nil
        }
    }

    /// Returns the next queued work for a lane that has finished a body. If there is none, marks the lane as free and returns `nil`.
    private func next(of lane: BlockingLane) -> (@Sendable () -> Void)? {
        state.withLock { state in
            guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
            state.free.append(lane)
            return nil
        }
    }
}
