import Synchronization

/// Several lanes (`BlockingLane`) for bodies that may run side by side: each runs on one that is free, and where none is, the body that
/// has waited longest is next. However many wait, no more threads block than there are lanes.
package final class BlockingLanes: Sendable {
    private struct State {
        /// The one that was free last is next, whose thread may still be awake.
        var free: [BlockingLane]
        var waiting: [@Sendable () -> Void] = []
    }

    private let state: Mutex<State>

    /// - Parameters:
    ///   - label: Shown by debuggers; need not be unique.
    ///   - count: How many bodies run at once, at least 1.
    package init(label: String, count: Int) {
        precondition(count > 0)
        state = Mutex(State(free: (1...count).map { BlockingLane(label: "\(label).\($0)") }))
    }

    /// Runs `body` as soon as a lane is free, and returns what it returns. It passes to one other thread and back.
    ///
    /// What the body alone held is gone by then. Canceling the task does not stop a body: what blocks must have a limit of its own.
    /// - Throws: What `body` throws, nothing else.
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

    /// A lane that is free; where none is, `work` waits for one.
    private func free(orWaiting work: @escaping @Sendable () -> Void) -> BlockingLane? {
        state.withLock { state in
            if let lane = state.free.popLast() { return lane }
            state.waiting.append(work)
            return nil
        }
    }

    /// What waits for a lane that has run a body; nothing: the lane is free again.
    private func next(of lane: BlockingLane) -> (@Sendable () -> Void)? {
        state.withLock { state in
            guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
            state.free.append(lane)
            return nil
        }
    }
}
