import BotSupport
import Execution
import ExecutionSupport
import JobProtocol
import TestSupport

/// Plays commits, but for one job, which it does not start, as a launcher that is gone, or stands still and comes too late.
final class RefusingExecutor: Executor {
    let inner: ScriptedExecutor
    private let refused: String
    private let code: ExecutionError.Code
    let refusals = Locked(0)
    let isRefusing = Locked(true)
    /// The number of answers "not started" after which the job is started nevertheless, too late for the answer.
    let countdown = Locked(0)
    /// With this refusal it is started all the same.
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
        // What was launched before is left alone.
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
        // Not prepared yet: none that is refused.
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
