import Basics
import JobProtocol

/// How far a follower has come in an attempt's status.
actor AttemptCursor {
    /// The longest wait, so that a supervisor that died without writing anything is noticed.
    private static let longestWait = Duration.seconds(1)

    private let attempt: AttemptDirectory
    private let executor: any Executor
    private let observer = FileWatch().observer()
    private let lane = BlockingLane(label: "follow")
    /// Read and not given yet.
    private var events: ArraySlice<StatusEvent> = []
    /// Where the next line begins.
    private var offset: Int64 = 0
    private var hasEnded = false

    init(attempt: AttemptDirectory, executor: any Executor) {
        self.attempt = attempt
        self.executor = executor
    }

    /// The next event; nothing after the last, or when the task was canceled.
    func next() async throws(ExecutionError) -> StatusEvent? {
        // As long as it writes it lives.
        var hasWritten = false
        while !hasEnded, !Task.isCancelled {
            if let event = try await newEvent() { return event }
            if !hasWritten {
                switch try await executor.liveness(of: attempt) {
                case .running, .finished: break
                case .notStarted:
                    throw ExecutionError(.notFound, "follow \(attempt.path)", "nothing was launched there")
                case .lost:
                    // It may have written its last lines between our look and the lock's.
                    if let event = try await newEvent() { return event }
                    throw ExecutionError(
                        .lost, "follow \(attempt.path)",
                        "its supervisor is gone without a last word; the job must run again")
                }
                if let event = try await newEvent() { return event }
            }
            hasWritten = await observer.wait(atMost: Self.longestWait)
        }
        return nil
    }

    /// How long the next event is waited for once there is one, and how long all of them are gathered at most.
    private static let pause = Duration.milliseconds(10)
    private static let gatheringTime = Duration.milliseconds(40)

    /// The next events, at least one; nothing after the last, or when the task was canceled.
    func nextBatch() async throws(ExecutionError) -> [StatusEvent]? {
        guard let first = try await next() else { return nil }
        var batch = [first]
        let deadline = ContinuousClock.now + Self.gatheringTime
        while !hasEnded {
            if let event = try await newEvent() {
                batch.append(event)
            } else if ContinuousClock.now < deadline, await observer.wait(atMost: Self.pause) {
                continue
            } else {
                break
            }
        }
        return batch
    }

    private func newEvent() async throws(ExecutionError) -> StatusEvent? {
        if events.isEmpty {
            let (attempt, observer, start) = (attempt, observer, offset)
            let (new, end) = try await lane.run { () throws(ExecutionError) in
                // Watched first: what is written after the look is told.
                observer.add(directory: attempt.path)
                observer.add(file: attempt.paths.status)
                return try attempt.status(from: start)
            }
            events = new[...]
            offset = end
        }
        let event = events.popFirst()
        hasEnded = event?.isFinished ?? false
        return event
    }
}
