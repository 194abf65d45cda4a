/// What starts a supervisor for an attempt and answers whether it lives. Everything else is in the attempt's directory.
package protocol Executor: Sendable {
    /// Starts the job that `prepare` wrote; returns once its supervisor holds the lock. Launching twice is harmless: what
    /// was launched before is left alone.
    /// - Parameter secrets: Values by name; they are in no file, and masked in the log.
    /// - Throws: `.noLauncher`, `.notStarted`, `.overLimit`; `.notFound` and `.malformed` where nothing was prepared.
    func start(_ attempt: AttemptDirectory, secrets: [String: String]) async throws(ExecutionError)

    /// - Throws: `.directory`. A status that is none of ours hides nothing: it runs as long as its lock is held, and is lost then.
    func liveness(of attempt: AttemptDirectory) async throws(ExecutionError) -> Liveness

    /// Waits until all that was asked for before is done, whoever asked: what has not begun by then never will.
    /// - Throws: `.noLauncher` where that does not answer.
    func settle() async throws(ExecutionError)

    /// Asks a running attempt to end; returns at once, `finished` comes with the end. Harmless when it has ended, and
    /// before it starts: then it ends with its first step.
    /// - Parameters:
    ///   - reason: Shown with the attempt.
    ///   - grace: Between SIGTERM and SIGKILL.
    /// - Throws: `.directory` when the request could not be written.
    func cancel(_ attempt: AttemptDirectory, reason: String, grace: Duration) async throws(ExecutionError)
}

extension Executor {
    /// Of one that does what it is asked for at once.
    package func settle() async throws(ExecutionError) {}
}
