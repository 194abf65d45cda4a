import Basics
import CLinux
import Glibc
import JobProtocol
import Subprocess
import SystemPackage

/// Runs jobs on this machine through the launcher, which outlives the daemon.
package struct LocalExecutor: Executor {
    private let socket: String
    private let supervisor: String
    private let startsLauncher: Bool
    /// The launcher answers one after the other.
    private let launching = BlockingLane(label: "launch")

    /// - Parameters:
    ///   - socket: The launcher's, absolute.
    ///   - supervisor: The path of `martlet-supervisor`.
    ///   - startsLauncher: Whether one is started, detached, when nothing listens there.
    package init(socket: String, supervisor: String, startsLauncher: Bool = true) {
        self.socket = socket
        self.supervisor = supervisor
        self.startsLauncher = startsLauncher
    }

    /// See `Executor`. Starts the launcher where none listens.
    /// - Throws: `.notStarted` also when the request with its secrets is larger than `LaunchRequest.sizeLimit`.
    package func start(_ attempt: AttemptDirectory, secrets: [String: String]) async throws(ExecutionError) {
        let request = LaunchRequest(attempt: attempt.path, secrets: secrets)
        guard request.json().count <= LaunchRequest.sizeLimit else {
            throw ExecutionError(.notStarted, "start \(attempt.path)", "its secrets are larger than 1 MiB")
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
                .noLauncher, "connect to \(socket)", "nothing listens there although a launcher was started")
        }
    }

    /// See `Executor`: by the lock and `status.jsonl`, whoever started it.
    package func liveness(of attempt: AttemptDirectory) async throws(ExecutionError) -> Liveness {
        try await BlockingLane(label: "liveness").run { () throws(ExecutionError) in try attempt.liveness() }
    }

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
        let socket = socket
        let result = await launching.run { () -> Result<LaunchAnswer?, JobProtocolError> in
            do throws(JobProtocolError) {
                let descriptor = try UnixSocket.connect(socket)
                defer { close(descriptor) }
                try UnixSocket.send(request.json(), to: descriptor)
                let bytes = try UnixSocket.receive(from: descriptor, limit: LaunchRequest.sizeLimit)
                return .success(try LaunchAnswer(json: bytes))
            } catch {
                let isNobody = error.errno == ENOENT || error.errno == ECONNREFUSED
                return isNobody ? .success(nil) : .failure(error)
            }
        }
        switch result {
        case .success(let answer): return answer
        case .failure(let error):
            throw ExecutionError(
                .noLauncher, "ask the launcher at \(socket)",
                error.message + "; it runs as the daemon's user or root, and answers no other", underlying: error)
        }
    }

    /// The command returns when the launcher listens, or another one does.
    private func startLauncher() async throws(ExecutionError) {
        let operation = "start \(supervisor) --listen \(socket)"
        do {
            let result = try await run(
                .path(FilePath(supervisor)), arguments: ["--listen", socket, "--detach"], input: .none,
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
