package import Execution
import Reports

/// Determines what `martlet-reader` can do on this machine, when the daemon starts and by `martlet doctor`.
package enum ReaderProbe {
    /// The message about a reader without a filter of system calls, and what to do.
    package static let unfiltered =
        "martlet-reader has no filter of system calls, since this kernel or its container allows none (seccomp(2)); "
        + "a report that takes over the reader gets the rights of the service's user: use a kernel with "
        + "CONFIG_SECCOMP_FILTER, and let the container have seccomp"

    /// The time limit. A reader without input needs some milliseconds.
    private static let patience = Duration.seconds(60)

    /// Runs the reader without input. Blocks until it has exited.
    /// - Returns: Whether its system calls are filtered.
    /// - Throws: `ExecutionError` if it cannot be started or does not answer.
    package static func isFiltered(_ program: ReaderProgram) throws -> Bool {
        var program = program
        program.limits.patience = patience
        var answer = ReadingAnswer(asked: [:])
        var requests = ReadingRequest.root(SourceRoot(mountedAt: "/")) + ReadingRequest.end
        let reason: String
        do {
            let outcome = try program.run(
                stop: .init(),
                feed: { bytes in
                    defer { requests = [] }
                    bytes += requests
                    return !requests.isEmpty
                },
                take: { bytes throws in try answer.consume(bytes) })
            if answer.isWhole { return answer.isFiltered }
            reason = StepReading.reason(outcome, program.limits)
        } catch let error as WireError {
            reason = "the reader's answer is invalid: \(error)"
        }
        throw ExecutionError(.notStarted, "ask \(program.path) for its filter of system calls", reason)
    }
}
