package import JobProtocol

/// Follows an attempt from its first event to its last, also one that was started by a daemon before this one.
package struct AttemptFollower: Sendable {
    private let executor: any Executor

    package init(executor: any Executor) { self.executor = executor }

    /// Every event from the first line on, each within 100 ms of its being written; ends after `finished`.
    ///
    /// Nothing is buffered: the next event is read when it is asked for. Canceling the task that waits ends the stream; it
    /// does not end the job.
    /// - Throws: In the stream, an `ExecutionError`: `.lost` when the supervisor is gone without `finished`, `.notFound` when
    ///   nothing was launched.
    package func events(of attempt: AttemptDirectory) -> AsyncThrowingStream<StatusEvent, any Error> {
        let cursor = AttemptCursor(attempt: attempt, executor: executor)
        return AsyncThrowingStream { try await cursor.next() }
    }

    /// The same events, together where they come within 10 ms of each other, each within 50 ms of its being written: a short step has
    /// ended by the time at which somebody could look at its beginning.
    /// - Throws: As `events(of:)`.
    package func batches(of attempt: AttemptDirectory) -> AsyncThrowingStream<[StatusEvent], any Error> {
        let cursor = AttemptCursor(attempt: attempt, executor: executor)
        return AsyncThrowingStream { try await cursor.nextBatch() }
    }
}
