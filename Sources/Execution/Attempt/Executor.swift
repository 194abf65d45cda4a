/// A starter of supervisors for attempts, which also finds out whether they live. All other data is in the attempt's directory.
package protocol Executor: Sendable {
    /// Starts the job that `prepare` wrote, and returns when its supervisor holds the lock. Starting it a second time has no effect.
    /// - Parameter secrets: The values of the secrets by name. They are never in files, and are masked in the log.
    /// - Throws: `.noLauncher`, `.notStarted`, `.overLimit`; `.notFound` and `.malformed` if the attempt was not prepared.
    func start(_ attempt: AttemptDirectory, secrets: [String: String]) async throws(ExecutionError)

    /// Returns the state of an attempt's supervisor. If the status is malformed, an attempt is running while its lock is held, and lost afterwards.
    /// - Throws: `.directory`.
    func liveness(of attempt: AttemptDirectory) async throws(ExecutionError) -> Liveness

    /// Waits until all earlier requests are handled, also those of other processes. A job that has not started by then never will.
    /// - Throws: `.noLauncher` if the launcher does not answer.
    func settle() async throws(ExecutionError)

    /// Asks a running attempt to end, and returns immediately; `finished` is written when it ends. Has no effect on an attempt that has ended. An
    /// attempt that has not started ends with its first step.
    /// - Parameters:
    ///   - reason: The reason that is shown with the attempt.
    ///   - grace: The time between SIGTERM and SIGKILL.
    /// - Throws: `.directory` if the request could not be written.
    func cancel(_ attempt: AttemptDirectory, reason: String, grace: Duration) async throws(ExecutionError)
}

extension Executor {
    /// Returns immediately, for executors that handle requests at once.
    package func settle() async throws(ExecutionError) {}
}
