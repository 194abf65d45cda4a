import Basics
package import JobProtocol
import Synchronization

/// The position of a follower in an attempt's status file.
actor AttemptCursor {
    /// The longest wait, so that a supervisor that died without writing an event is noticed.
    private static let longestWait = Duration.seconds(1)

    /// One watch for all jobs, because a user has only 128 instances (`fs.inotify.max_user_instances`).
    private static let shared = Mutex<FileWatch?>(nil)

    /// The shared watch. If the machine had no instance left, creating one is tried again.
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
    private let onWait: AttemptFollower.WaitObserver?
    /// Why the job waits at a cluster, as last reported to `onWait`.
    private var wait: String?
    private let observer = AttemptCursor.watch.observer()
    private let queue = SerialQueue(label: "follow")
    /// Events that were read and not yet returned.
    private var events: ArraySlice<StatusEvent> = []
    /// The offset at which the next line begins.
    private var offset: Int64 = 0
    private var hasEnded = false
    /// Whether changes of the status file are reported.
    private var isWatched = false
    /// Whether the status file may have grown since it was last read.
    private var mayHaveGrown = true

    init(attempt: AttemptDirectory, executor: any Executor, onWait: AttemptFollower.WaitObserver? = nil) {
        self.attempt = attempt
        self.executor = executor
        self.onWait = onWait
    }

    private func report(wait new: String?) async {
        guard new != wait else { return }
        wait = new
        await onWait?(new)
    }

    /// Returns the next event; `nil` after the last one, or if the task was canceled.
    /// - Throws: `.lost` if the supervisor is gone without a last event; `.notFound` if no job was launched; `.directory`, `.malformed`.
    func next() async throws(ExecutionError) -> StatusEvent? {
        // A supervisor that writes is alive, so its liveness need not be checked.
        var hasWritten = false
        while !hasEnded, !Task.isCancelled {
            if let event = try await newEvent() {
                await report(wait: nil)
                return event
            }
            if !hasWritten {
                switch try await executor.liveness(of: attempt) {
                case .running: await report(wait: nil)
                case .waiting(let reason): await report(wait: reason)
                case .finished:
                    // The watch reports this change, too, unless no watch is available.
                    mayHaveGrown = true
                    if let event = try await newEvent() { return event }
                case .notStarted:
                    throw ExecutionError(.notFound, "follow \(attempt.path)", "no attempt was launched there")
                case .lost:
                    // It may have written its last lines between reading the status and checking the lock.
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

    /// How long to wait for the next event of a batch, and for all events of a batch.
    private static let pause = Duration.milliseconds(10)
    private static let gatheringTime = Duration.milliseconds(40)

    /// Returns the next events, at least one; `nil` after the last one, or if the task was canceled.
    /// - Throws: As `next()`.
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
            let (new, end, isWatched) = try await queue.run {
                () throws(ExecutionError) -> ([StatusEvent], Int64, Bool) in
                // The watch is added first, so that everything written after reading is reported.
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

    /// Watches `status.jsonl`, which is never replaced. If it does not exist, watches the directory for its creation.
    /// - Returns: Whether `status.jsonl` is watched.
    private static func watch(_ attempt: AttemptDirectory, _ observer: FileWatch.Observer) -> Bool {
        if observer.add(file: attempt.paths.status) { return true }
        observer.add(directory: attempt.path)
        return observer.add(file: attempt.paths.status)
    }
}

/// A follower of an attempt from its first event to its last. The attempt may have been started by an earlier daemon.
package struct AttemptFollower: Sendable {
    /// Receives the reason why a job waits at a cluster, each time it changes; `nil` when the job no longer waits.
    package typealias WaitObserver = @Sendable (String?) async -> Void

    private let executor: any Executor
    private let onWait: WaitObserver?

    package init(executor: any Executor, onWait: WaitObserver? = nil) {
        (self.executor, self.onWait) = (executor, onWait)
    }

    /// Returns every event from the first line on, each within 100 ms after it was written. The stream ends after `finished`.
    ///
    /// Events are not buffered: the next one is read when it is requested. Canceling the waiting task ends the stream, but not the job.
    /// - Throws: The stream throws an `ExecutionError`: `.lost` if the supervisor is gone without `finished`, `.notFound` if no job was launched.
    package func events(of attempt: AttemptDirectory) -> AsyncThrowingStream<StatusEvent, any Error> {
        let cursor = AttemptCursor(attempt: attempt, executor: executor, onWait: onWait)
        return AsyncThrowingStream { try await cursor.next() }
    }

    /// Returns the same events in batches of those within 10 ms of each other, each within 50 ms after it was written. A short step has therefore
    /// often ended when its start is reported.
    /// - Throws: As `events(of:)`.
    package func batches(of attempt: AttemptDirectory) -> AsyncThrowingStream<[StatusEvent], any Error> {
        let cursor = AttemptCursor(attempt: attempt, executor: executor, onWait: onWait)
        return AsyncThrowingStream { try await cursor.nextBatch() }
    }
}
