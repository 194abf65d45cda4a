package import JobProtocol

/// A follower of an attempt from its first event to its last. The attempt may have been started by an earlier daemon.
package struct AttemptFollower: Sendable {
    private let executor: any Executor

    package init(executor: any Executor) { self.executor = executor }

    /// Returns every event from the first line on, each within 100 ms after it was written. The stream ends after `finished`.
    ///
    /// Events are not buffered: the next one is read when it is requested. Canceling the waiting task ends the stream, but not the job.
    /// - Throws: The stream throws an `ExecutionError`: `.lost` if the supervisor is gone without `finished`, `.notFound` if no job was launched.
    package func events(of attempt: AttemptDirectory) -> AsyncThrowingStream<StatusEvent, any Error> {
        let cursor = AttemptCursor(attempt: attempt, executor: executor)
        return AsyncThrowingStream { try await cursor.next() }
    }

    /// Returns the same events in batches of those within 10 ms of each other, each within 50 ms after it was written. A short step has therefore
    /// often ended when its start is reported.
    /// - Throws: As `events(of:)`.
    package func batches(of attempt: AttemptDirectory) -> AsyncThrowingStream<[StatusEvent], any Error> {
        let cursor = AttemptCursor(attempt: attempt, executor: executor)
        return AsyncThrowingStream { try await cursor.nextBatch() }
    }
}
