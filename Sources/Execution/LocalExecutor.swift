import Basics
import CLinux
import Glibc
import JobProtocol
import Subprocess
import SystemPackage

/// Runs jobs on this machine through the launcher, which outlives the daemon.
package struct LocalExecutor: Executor {
    private let socket: LauncherSocket
    private let supervisor: String
    private let startsLauncher: Bool

    /// - Parameters:
    ///   - socket: The launcher's, absolute.
    ///   - supervisor: The path of `martlet-supervisor`.
    ///   - startsLauncher: Whether one is started, detached, when nothing listens there.
    package init(socket: String, supervisor: String, startsLauncher: Bool = true) {
        self.socket = LauncherSocket(path: socket)
        self.supervisor = supervisor
        self.startsLauncher = startsLauncher
    }

    /// See `Executor`. Starts the launcher where none listens, or where it went before it answered; asking twice starts one job, since
    /// an attempt that was started is told so (`LaunchAnswer.exists`).
    /// - Throws: `.overLimit` when the request with its secrets is larger than `LaunchRequest.sizeLimit`.
    package func start(_ attempt: AttemptDirectory, secrets: [String: String]) async throws(ExecutionError) {
        let request = LaunchRequest(attempt: attempt.path, secrets: secrets)
        guard request.json().count <= LaunchRequest.sizeLimit else {
            throw ExecutionError(
                .overLimit, "start \(attempt.path)",
                "its secrets are larger than 1 MiB together; name fewer of them in the bot file or recipe")
        }
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
                .noLauncher, "connect to \(socket.path)", "nobody answers there although a launcher was started")
        }
    }

    /// See `Executor`: by the lock and `status.jsonl`, whoever started it.
    package func liveness(of attempt: AttemptDirectory) async throws(ExecutionError) -> Liveness {
        try await BlockingLane(label: "liveness").run { () throws(ExecutionError) in try attempt.liveness() }
    }

    /// See `Executor`. The launcher answers one after the other, so its answer to any question comes after those that were asked before;
    /// where none listens there is nobody who could have taken anything.
    package func settle() async throws(ExecutionError) { _ = try await socket.exchange(FenceFinding.request) }

    /// See `Executor`: the reason is written first, then the supervisor gets SIGTERM.
    package func cancel(
        _ attempt: AttemptDirectory, reason: String, grace: Duration
    ) async throws(ExecutionError) {
        try await BlockingLane(label: "cancel").run { () throws(ExecutionError) in
            try attempt.writeCancel(reason: reason, grace: grace)
            attempt.signalSupervisor()
        }
    }

    /// Nothing when nobody listens.
    private func ask(_ request: LaunchRequest) async throws(ExecutionError) -> LaunchAnswer? {
        guard let bytes = try await socket.exchange(request.json()) else { return nil }
        do throws(JobProtocolError) {
            return try LaunchAnswer(json: bytes)
        } catch {
            throw ExecutionError(.noLauncher, "ask the launcher at \(socket.path)", error.message, underlying: error)
        }
    }

    /// The command returns when the launcher listens, or another one does.
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
