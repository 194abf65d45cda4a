import Basics
package import JobProtocol
import Subprocess
import SystemPackage

/// Finds out whether jobs can be fenced on this machine, by making a fence around nothing.
package struct FenceProbe: Sendable {
    /// How long it may take: a fence takes milliseconds, a machine under load seconds.
    package static let patience: Duration = .seconds(20)

    private let supervisor: String
    private let launcher: LauncherSocket?

    /// - Parameters:
    ///   - supervisor: The path of `martlet-supervisor`.
    ///   - launcher: The socket of the launcher that will start the jobs, absolute. It is asked where it listens: a service
    ///     manager can allow it fences that it forbids to this process.
    package init(supervisor: String, launcher: String? = nil) {
        self.supervisor = supervisor
        self.launcher = launcher.map { LauncherSocket(path: $0) }
    }

    /// How often is asked before what may pass counts. With all of its patience a service still starts within the 90 s that systemd allows.
    static let maximumTries = 3

    /// As `find()`, and again as long as the answer may be another the next time: with the longest pauses six seconds.
    /// - Parameter timer: For the pauses.
    /// - Throws: As `find()`, where the last one did.
    package func find(pausing timer: any Clock<Duration>) async throws(ExecutionError) -> FenceFinding {
        var backoff = Backoff(first: .seconds(2), limit: .seconds(4))
        for _ in 1..<Self.maximumTries {
            // Who could not be asked may be asked the next time.
            if let finding = try? await find(), finding.isWhole || finding.isLasting { return finding }
            // Canceled: the last answer is as good as none.
            do { try await timer.sleep(for: backoff.next()) } catch { break }
        }
        return try await find()
    }

    /// By the launcher where one listens, else by the supervisor as this process's child.
    ///
    /// That it does not work is an answer, not an error.
    /// - Throws: `.notStarted` when the supervisor cannot be asked; `.noLauncher` when the launcher does not answer.
    package func find() async throws(ExecutionError) -> FenceFinding {
        if let launcher, let answer = try await launcher.exchange(FenceFinding.request) {
            return finding(of: launcher, answer)
        }
        return try await run()
    }

    private func finding(of launcher: LauncherSocket, _ answer: [UInt8]) -> FenceFinding {
        do throws(JobProtocolError) {
            return try FenceFinding(json: answer.prefix { $0 != UInt8(ascii: "\n") })
        } catch {
            var said = error.message
            if case .failed(let reason)? = try? LaunchAnswer(json: answer) { said = reason }
            let reason =
                "the launcher at \(launcher.path) could not try it, perhaps as one of an older version, which a restart of it "
                + "replaces: \(said)"
            return FenceFinding(works: false, reason: reason, limits: .rlimit)
        }
    }

    private func run() async throws(ExecutionError) -> FenceFinding {
        let operation = "run \(supervisor) --probe-fence"
        do {
            let supervisor = supervisor
            let output = try await withThrowingTaskGroup { group in
                group.addTask {
                    try await Subprocess.run(
                        .path(FilePath(supervisor)), arguments: ["--probe-fence"], environment: .custom([:]),
                        input: .none, output: .bytes(limit: FenceFinding.sizeLimit), error: .discarded
                    ).standardOutput
                }
                group.addTask {
                    try await Task.sleep(for: Self.patience)
                    throw ExecutionError(.notStarted, operation, "it did not answer within \(Self.patience)")
                }
                defer { group.cancelAll() }
                return try await group.next() ?? []
            }
            return try FenceFinding(json: output.prefix { $0 != UInt8(ascii: "\n") })
        } catch let error as ExecutionError {
            throw error
        } catch {
            throw ExecutionError(.notStarted, operation, "\(error)", underlying: error)
        }
    }
}
