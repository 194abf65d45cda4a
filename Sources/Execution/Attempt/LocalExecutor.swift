import Basics
import CLinux
import Glibc
import JobProtocol
import Subprocess
import SystemPackage

/// An executor for jobs on this machine. It uses the launcher, which outlives the daemon.
package struct LocalExecutor: Executor {
    private let socket: LauncherSocket
    private let supervisor: String
    private let startsLauncher: Bool

    /// Creates an executor.
    /// - Parameters:
    ///   - socket: The absolute path of the launcher's socket.
    ///   - supervisor: The path of `martlet-supervisor`.
    ///   - startsLauncher: Whether to start a detached launcher if none listens there.
    package init(socket: String, supervisor: String, startsLauncher: Bool = true) {
        self.socket = LauncherSocket(path: socket)
        self.supervisor = supervisor
        self.startsLauncher = startsLauncher
    }

    /// Starts a job; see `Executor`. Starts a launcher if none listens, or if it went away before it answered. A repeated request starts only one
    /// job, because the launcher answers `LaunchAnswer.exists` to the second.
    /// - Throws: `.overLimit` if the request with its secrets is larger than `LaunchRequest.sizeLimit`.
    package func start(_ attempt: AttemptDirectory, secrets: [String: String]) async throws(ExecutionError) {
        let request = LaunchRequest(attempt: attempt.path, secrets: secrets)
        try Self.checkSize(of: request)
        var answer = try await ask(request)
        if answer == nil, startsLauncher {
            try await startLauncher()
            answer = try await ask(request)
        }
        switch answer {
        case .started, .exists: return
        case .failed(let reason): throw ExecutionError(.notStarted, "start \(attempt.path)", reason)
        case nil:
            throw ExecutionError(
                .noLauncher, "connect to \(socket.path)", "nothing listens there although a launcher was started")
        }
    }

    /// - Throws: `.overLimit` if the request with its secrets is larger than `LaunchRequest.sizeLimit`.
    static func checkSize(of request: LaunchRequest) throws(ExecutionError) {
        guard request.json().count <= LaunchRequest.sizeLimit else {
            throw ExecutionError(
                .overLimit, "start \(request.attempt)",
                "its secrets are larger than 1 MiB together; name fewer of them in the bot file or recipe")
        }
    }

    /// Returns the state by the lock and `status.jsonl`, regardless of which process started the attempt; see `Executor`.
    package func liveness(of attempt: AttemptDirectory) async throws(ExecutionError) -> Liveness {
        try await SerialQueue(label: "liveness").run { () throws(ExecutionError) in try attempt.liveness() }
    }

    /// Waits for earlier requests; see `Executor`. The launcher handles requests one after another, so its answer to any request comes after all
    /// earlier ones. If no launcher listens, there are no requests.
    package func settle(_ attempt: AttemptDirectory) async throws(ExecutionError) {
        _ = try await socket.exchange(SandboxFinding.request)
    }

    /// Writes the request, then sends SIGTERM to the supervisor; see `Executor`.
    package func cancel(
        _ attempt: AttemptDirectory, reason: String, grace: Duration
    ) async throws(ExecutionError) {
        try await SerialQueue(label: "cancel").run { () throws(ExecutionError) in
            try attempt.writeCancel(reason: reason, grace: grace)
            attempt.signalSupervisor()
        }
    }

    /// Sends a request to the launcher.
    /// - Returns: `nil` if no launcher listens.
    private func ask(_ request: LaunchRequest) async throws(ExecutionError) -> LaunchAnswer? {
        guard let bytes = try await socket.exchange(request.json()) else { return nil }
        do throws(JobProtocolError) {
            return try LaunchAnswer(json: bytes)
        } catch {
            throw ExecutionError(.noLauncher, "ask the launcher at \(socket.path)", error.message, underlying: error)
        }
    }

    /// Starts a launcher. Returns when it, or another one, listens.
    private func startLauncher() async throws(ExecutionError) {
        let operation = "start \(supervisor) --listen \(socket.path)"
        do {
            let result = try await run(
                .path(FilePath(supervisor)), arguments: ["--listen", socket.path, "--detach"], input: .none,
                output: .discarded, error: .string(limit: 4096))
            guard result.terminationStatus.isSuccess else {
                throw ExecutionError(.noLauncher, operation, result.standardError)
            }
        } catch let error as ExecutionError {
            throw error
        } catch {
            throw ExecutionError(.noLauncher, operation, "\(error)", underlying: error)
        }
    }
}
