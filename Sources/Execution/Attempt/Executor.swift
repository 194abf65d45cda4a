/// A starter of supervisors for attempts, which also finds out whether they live. All other data is in the attempt's directory.
package protocol Executor: Sendable {
    /// Starts the job that `prepare` wrote. Starting it a second time has no effect. A local executor returns when its supervisor holds the lock; one
    /// of a cluster returns when the cluster has accepted the job, which may then wait.
    /// - Parameter secrets: The values of the secrets by name. They are never in files, and are masked in the log.
    /// - Throws: `.noLauncher`, `.notStarted`, `.overLimit`; `.notFound` and `.malformed` if the attempt was not prepared.
    func start(_ attempt: AttemptDirectory, secrets: [String: String]) async throws(ExecutionError)

    /// Returns the state of an attempt's supervisor. If the status is malformed, an attempt is running while its lock is held, and lost afterwards.
    /// - Throws: `.directory`; `.noLauncher` if the executor is not in the settings.
    func liveness(of attempt: AttemptDirectory) async throws(ExecutionError) -> Liveness

    /// Waits until all earlier requests about an attempt are handled, also those of other processes. If it has not started by then, and does not wait
    /// at a cluster, it never will.
    /// - Throws: `.noLauncher` if the launcher or the cluster does not answer.
    func settle(_ attempt: AttemptDirectory) async throws(ExecutionError)

    /// Asks a running attempt to end, and returns immediately; `finished` is written when it ends. Has no effect on an attempt that has ended. An
    /// attempt that has not started ends with its first step.
    /// - Parameters:
    ///   - reason: The reason that is shown with the attempt.
    ///   - grace: The time between SIGTERM and SIGKILL.
    /// - Throws: `.directory` if the request could not be written; `.noLauncher` if the cluster did not accept it.
    func cancel(_ attempt: AttemptDirectory, reason: String, grace: Duration) async throws(ExecutionError)

    /// Returns how the executor itself ended an attempt, once the attempt has ended or is lost; `nil` if it did not.
    func ending(of attempt: AttemptDirectory) async -> ExecutorEnding?
}

extension Executor {
    /// Returns immediately, for executors that handle requests at once.
    package func settle(_ attempt: AttemptDirectory) async throws(ExecutionError) {}

    /// Returns `nil`, for executors that end no job by themselves.
    package func ending(of attempt: AttemptDirectory) async -> ExecutorEnding? { nil }
}

/// An end of an attempt that the executor brought about, not the job.
package struct ExecutorEnding: Sendable, Hashable {
    /// Whether the job exceeded a limit, which is its code's doing. Otherwise a machine failed, and another attempt may succeed.
    package var isLimit: Bool
    /// What happened and where, as a sentence without a period.
    package var sentence: String

    package init(isLimit: Bool, sentence: String) { (self.isLimit, self.sentence) = (isLimit, sentence) }
}
