import Basics
package import JobProtocol
import Subprocess
import SystemPackage

/// A test whether jobs can be sandboxed on this machine, by making an empty sandbox.
package struct SandboxProbe: Sendable {
    /// The time limit of a try. A sandbox takes milliseconds, but seconds on a machine under load.
    package static let patience: Duration = .seconds(20)

    private let supervisor: String
    private let launcher: LauncherSocket?
    private let isManaged: Bool

    /// Creates a test.
    /// - Parameters:
    ///   - supervisor: The path of `martlet-supervisor`.
    ///   - launcher: The absolute path of the socket of the launcher that will start the jobs. If a launcher listens there, it makes the sandbox,
    ///     because a service manager can allow it sandboxes that it forbids to this process.
    ///   - isManaged: Whether a service manager keeps the launcher, so that a try without it does not show what jobs get.
    package init(supervisor: String, launcher: String? = nil, isManaged: Bool = false) {
        self.supervisor = supervisor
        self.isManaged = isManaged
        self.launcher = launcher.map { LauncherSocket(path: $0) }
    }

    /// The largest number of tries before a temporary failure is reported. With the full time limit each, a service still starts within the 90 s that
    /// systemd allows.
    static let maximumTries = 3

    /// Tests as `find()` does, and tries again as long as the result may change. The pauses take at most six seconds.
    /// - Parameter timer: The clock for the pauses.
    /// - Throws: As `find()`, if the last try failed.
    package func find(pausing timer: any Clock<Duration>) async throws(ExecutionError) -> SandboxFinding {
        var backoff = Backoff(first: .seconds(2), limit: .seconds(4))
        for _ in 1..<Self.maximumTries {
            // A failed query is tried again.
            if let finding = try? await find(), finding.isWhole || finding.isLasting { return finding }
            // If the task is canceled, the next try is the last.
            do { try await timer.sleep(for: backoff.next()) } catch { break }
        }
        return try await find()
    }

    /// Tests by the launcher if one listens, otherwise by the supervisor as a child of this process.
    ///
    /// A sandbox that does not work is a result, not an error.
    /// - Throws: `.notStarted` if the supervisor cannot be run; `.noLauncher` if the launcher does not answer, or if a managed one does not listen.
    package func find() async throws(ExecutionError) -> SandboxFinding {
        if let launcher, let answer = try await launcher.exchange(SandboxFinding.request) {
            return finding(of: launcher, answer)
        }
        if let launcher, isManaged {
            throw ExecutionError(.noLauncher, "ask the launcher at \(launcher.path)", "none listens there")
        }
        return try await run()
    }

    private func finding(of launcher: LauncherSocket, _ answer: [UInt8]) -> SandboxFinding {
        do throws(JobProtocolError) {
            return try SandboxFinding(json: answer.prefix { $0 != UInt8(ascii: "\n") })
        } catch {
            var said = error.message
            if case .failed(let reason)? = try? LaunchAnswer(json: answer) { said = reason }
            let reason =
                "the launcher at \(launcher.path) could not try it, perhaps as one of an older version, which a restart of it "
                + "replaces: \(said)"
            return SandboxFinding(works: false, reason: reason, limits: .rlimit)
        }
    }

    private func run() async throws(ExecutionError) -> SandboxFinding {
        let operation = "run \(supervisor) --probe-fence"
        do {
            let supervisor = supervisor
            let output = try await withThrowingTaskGroup { group in
                group.addTask {
                    try await Subprocess.run(
                        .path(FilePath(supervisor)), arguments: ["--probe-fence"], environment: .custom([:]),
                        input: .none, output: .bytes(limit: SandboxFinding.sizeLimit), error: .discarded
                    ).standardOutput
                }
                group.addTask {
                    try await Task.sleep(for: Self.patience)
                    throw ExecutionError(.notStarted, operation, "it did not answer within \(Self.patience)")
                }
                defer { group.cancelAll() }
                return try await group.next() ?? []
            }
            return try SandboxFinding(json: output.prefix { $0 != UInt8(ascii: "\n") })
        } catch let error as ExecutionError {
            throw error
        } catch {
            throw ExecutionError(.notStarted, operation, "\(error)", underlying: error)
        }
    }
}
