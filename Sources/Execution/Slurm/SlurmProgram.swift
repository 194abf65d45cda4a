import Glibc
import Subprocess
import SystemPackage

/// Slurm's commands: `sbatch`, `squeue`, `scancel` and `sinfo`. Each is a process with limited time and output.
struct SlurmProgram: Sendable {
    /// The time limit of one command. Slurm's own time-out for messages is 10 s (`MessageTimeout`, slurm.conf(5)), and commands repeat a message.
    static let patience = Duration.seconds(60)
    /// The size limit of an answer in bytes. One line of `squeue` has some 100 bytes, so this is enough for 100,000 jobs of ours.
    static let outputLimit = 16 << 20

    /// Variables in addition to the daemon's own, such as `SLURM_CONF`.
    let environment: [String: String]

    /// Runs a command.
    /// - Returns: Its standard output.
    /// - Throws: `.noLauncher` if it could not be started, was not successful or took too long. The message is what it printed.
    func run(_ program: String, _ arguments: [String]) async throws(ExecutionError) -> String {
        let executable = executable(program)
        let operation = "\(program) \(arguments.joined(separator: " ").prefix(500))"
        let environment = environment.reduce(into: [Environment.Key: String?]()) { result, variable in
            result[Environment.Key(rawValue: variable.key) ?? ""] = variable.value
        }
        let result = await withTaskGroup(of: Result<String, ExecutionError>?.self) { group in
            group.addTask {
                do {
                    let result = try await Subprocess.run(
                        executable, arguments: Arguments(arguments),
                        environment: .inherit.updating(environment), workingDirectory: "/", input: .none,
                        output: .string(limit: Self.outputLimit), error: .string(limit: 64 << 10))
                    guard result.terminationStatus.isSuccess else {
                        return .failure(
                            ExecutionError(.noLauncher, operation, Self.words(result.standardError)))
                    }
                    return .success(result.standardOutput)
                } catch {
                    return .failure(ExecutionError(.noLauncher, operation, "\(error)", underlying: error))
                }
            }
            group.addTask {
                // Canceled when the command has ended.
                try? await Task.sleep(for: Self.patience)
                return nil
            }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
        guard let result else {
            throw ExecutionError(.noLauncher, operation, "it has not answered within \(Self.patience)")
        }
        return try result.get()
    }

    /// Returns the command in the first directory of `PATH` that has it. By a mere name, Subprocess would start one process for each directory
    /// before that.
    private func executable(_ program: String) -> Executable {
        let path = environment["PATH"] ?? getenv("PATH").map { String(cString: $0) } ?? ""
        for directory in path.split(separator: ":") where directory.hasPrefix("/") {
            let candidate = "\(directory)/\(program)"
            var status = stat()
            guard stat(candidate, &status) == 0, status.st_mode & S_IFMT == S_IFREG, access(candidate, X_OK) == 0
            else { continue }
            return .path(FilePath(candidate))
        }
        // The failure then names the program.
        return .name(program)
    }

    /// Returns what a command complained about, as one line: `Unable to contact slurm controller (connect failure)`.
    private static func words(_ text: String) -> String {
        let lines = text.split(whereSeparator: \.isNewline).map { line in
            let parts = line.split(separator: ": error: ", maxSplits: 1)
            return String(parts.last ?? line)
        }
        let words = lines.joined(separator: "; ").prefix(1000)
        return words.isEmpty ? "it failed without a message" : String(words)
    }
}
