import BotSupport
import Execution
import ExecutionSupport
import JobProtocol
import TestSupport

/// An executor that plays commits, but does not start one job. It acts like a missing launcher, or a stopped one that starts the job too late.
final class RefusingExecutor: Executor {
    let inner: ScriptedExecutor
    private let refused: String
    private let code: ExecutionError.Code
    let refusals = Locked(0)
    let isRefusing = Locked(true)
    /// The number of answers "not started" after which the job is started nevertheless, too late for the answer.
    let countdown = Locked(0)
    /// The refusal after which it is started nevertheless; `nil` for none.
    private let late: Int?

    /// - Parameter refused: The configuration, or the name of a trigger's script.
    init(
        refused: String, code: ExecutionError.Code = .notStarted, startsAt late: Int? = nil,
        inner: ScriptedExecutor = .playing()
    ) {
        self.refused = refused
        self.code = code
        self.late = late
        self.inner = inner
    }

    func start(_ attempt: AttemptDirectory, secrets: [String: String]) async throws(ExecutionError) {
        // A job that was started before is left alone.
        guard try await inner.liveness(of: attempt) == .notStarted else { return }
        if isRefusing.value, try isRefused(attempt) {
            let count = refusals.withLock { count in
                count += 1
                return count
            }
            if count == late { try await inner.start(attempt, secrets: secrets) }
            throw ExecutionError(code, "start \(attempt.path)", "no supervisor")
        }
        try await inner.start(attempt, secrets: secrets)
    }

    private func isRefused(_ attempt: AttemptDirectory) throws(ExecutionError) -> Bool {
        let job = try attempt.job()
        return job.environment["MARTLET_CONFIGURATION"] == refused || job.steps.first?.name == refused
    }

    func liveness(of attempt: AttemptDirectory) async throws(ExecutionError) -> Liveness {
        let answer = try await inner.liveness(of: attempt)
        // It is not prepared yet, so it is not the refused one.
        guard answer == .notStarted, (try? isRefused(attempt)) ?? false else { return answer }
        let isDue = countdown.withLock { count in
            count -= 1
            return count == 0
        }
        if isDue { try await inner.start(attempt, secrets: [:]) }
        return answer
    }

    func cancel(_ attempt: AttemptDirectory, reason: String, grace: Duration) async throws(ExecutionError) {
        try await inner.cancel(attempt, reason: reason, grace: grace)
    }
}
