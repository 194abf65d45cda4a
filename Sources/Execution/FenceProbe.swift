package import JobProtocol
import Subprocess
import SystemPackage

/// Finds out whether jobs can be fenced on this machine, by making a fence around nothing.
package struct FenceProbe: Sendable {
    /// How long it may take: a fence takes milliseconds, a machine under load seconds.
    package static let patience: Duration = .seconds(20)

    private let supervisor: String

    /// - Parameter supervisor: The path of `martlet-supervisor`.
    package init(supervisor: String) { self.supervisor = supervisor }

    /// As this process's user; where that is the jobs' own, the answer is theirs.
    ///
    /// That it does not work is an answer, not an error.
    /// - Throws: `.notStarted` when the supervisor cannot be asked.
    package func find() async throws(ExecutionError) -> FenceFinding {
        let operation = "run \(supervisor) --probe-fence"
        do {
            let supervisor = supervisor
            let output = try await withThrowingTaskGroup { group in
                group.addTask {
                    try await run(
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
