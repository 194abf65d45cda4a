import Basics
import JobProtocol
import Synchronization

/// How far a follower has come in an attempt's status.
actor AttemptCursor {
    /// The longest wait, so that a supervisor that died without writing anything is noticed.
    private static let longestWait = Duration.seconds(1)

    /// One for all, which are as many as there are jobs: a machine gives a user 128 (`fs.inotify.max_user_instances`).
    private static let shared = Mutex<FileWatch?>(nil)

    /// Tried again as long as there is none to be had.
    private static var watch: FileWatch {
        shared.withLock { shared in
            if let shared, shared.isAble { return shared }
            let new = FileWatch()
            shared = new
            return new
        }
    }

    private let attempt: AttemptDirectory
    private let executor: any Executor
    private let observer = AttemptCursor.watch.observer()
    private let lane = BlockingLane(label: "follow")
    /// Read and not given yet.
    private var events: ArraySlice<StatusEvent> = []
    /// Where the next line begins.
    private var offset: Int64 = 0
    private var hasEnded = false
    /// Whether what is written from now on is told.
    private var isWatched = false
    /// Whether anything may have been written since the last look.
    private var mayHaveGrown = true

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
                case .running: break
                case .finished:
                    // Told, too, but where no watch is to be had.
                    mayHaveGrown = true
                    if let event = try await newEvent() { return event }
                case .notStarted:
                    throw ExecutionError(.notFound, "follow \(attempt.path)", "nothing was launched there")
                case .lost:
                    // It may have written its last lines between our look and the lock's.
                    mayHaveGrown = true
                    if let event = try await newEvent() { return event }
                    throw ExecutionError(
                        .lost, "follow \(attempt.path)",
                        "its supervisor is gone without a last word; the job must run again")
                }
            }
            hasWritten = await observer.wait(atMost: Self.longestWait)
            mayHaveGrown = true
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
                mayHaveGrown = true
            } else {
                break
            }
        }
        return batch
    }

    private func newEvent() async throws(ExecutionError) -> StatusEvent? {
        if events.isEmpty, mayHaveGrown {
            let (attempt, observer, start, wasWatched) = (attempt, observer, offset, isWatched)
            let (new, end, isWatched) = try await lane.run {
                () throws(ExecutionError) -> ([StatusEvent], Int64, Bool) in
                // Watched first: what is written after the look is told.
                let isWatched = wasWatched || Self.watch(attempt, observer)
                let (events, end) = try attempt.status(from: start)
                return (events, end, isWatched)
            }
            events = new[...]
            offset = end
            self.isWatched = isWatched
            mayHaveGrown = false
        }
        let event = events.popFirst()
        hasEnded = event?.isFinished ?? false
        return event
    }

    /// - Returns: Whether `status.jsonl` is watched, which is never replaced; else the directory is, for when it is made.
    private static func watch(_ attempt: AttemptDirectory, _ observer: FileWatch.Observer) -> Bool {
        if observer.add(file: attempt.paths.status) { return true }
        observer.add(directory: attempt.path)
        return observer.add(file: attempt.paths.status)
    }
}
