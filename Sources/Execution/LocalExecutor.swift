import Basics
import CLinux
import Glibc
import JobProtocol

/// Runs jobs on this machine through the launcher, which outlives the daemon.
package struct LocalExecutor: Executor {
    private let socket: String
    private let supervisor: String
    private let lane = BlockingLane(label: "launch")

    /// - Parameters:
    ///   - socket: Of the launcher. When nothing listens there, one is started, detached.
    ///   - supervisor: The path of `martlet-supervisor`.
    package init(socket: String, supervisor: String) {
        self.socket = socket
        self.supervisor = supervisor
    }

    package func start(_ attempt: AttemptDirectory, secrets: [String: String]) async throws(ExecutionError) {
    }

    package func liveness(of attempt: AttemptDirectory) async throws(ExecutionError) -> Liveness {
        .notStarted
    }

    package func cancel(
        _ attempt: AttemptDirectory, reason: String, grace: Duration
    ) async throws(ExecutionError) {
    }
}
