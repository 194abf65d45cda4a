import Basics
import JobProtocol

/// How far a follower has come in an attempt's status.
actor AttemptCursor {
    private let attempt: AttemptDirectory
    private let executor: any Executor
    private let watch: DirectoryWatch
    private var given = 0
    private var hasEnded = false

    init(attempt: AttemptDirectory, executor: any Executor) {
        self.attempt = attempt
        self.executor = executor
        watch = DirectoryWatch(path: attempt.path)
    }

    /// The next event; nothing after the last, or when the task was canceled.
    func next() async throws(ExecutionError) -> StatusEvent? {
        while !hasEnded, !Task.isCancelled {
            if let event = try newEvent() { return event }
            switch try await executor.liveness(of: attempt) {
            case .running, .finished: break
            case .notStarted: throw ExecutionError(.notFound, "follow \(attempt.path)", "nothing was launched there")
            case .lost:
                // It may have written its last lines between our look and the lock's.
                if let event = try newEvent() { return event }
                throw ExecutionError(
                    .lost, "follow \(attempt.path)",
                    "its supervisor is gone without a last word; the job must run again")
            }
            if let event = try newEvent() { return event }
            await watch.wait()
        }
        return nil
    }

    private func newEvent() throws(ExecutionError) -> StatusEvent? {
        let events = try attempt.status()
        guard events.count > given else { return nil }
        given += 1
        hasEnded = events[given - 1].isFinished
        return events[given - 1]
    }
}
