import JobProtocol

/// The reason why an attempt could not be started, followed or ended. Failures of a job are events, not errors.
package struct ExecutionError: Error, Sendable, CustomStringConvertible {
    /// The kind of failure, for programs.
    package enum Code: String, Sendable {
        /// The launcher cannot be reached, and none could be started.
        case noLauncher = "no-launcher"
        /// The launcher or the supervisor cannot run the job now, for instance because there are too many processes.
        case notStarted = "not-started"
        /// The request is larger than its limit, so trying again does not help.
        case overLimit = "over-limit"
        /// The supervisor is gone and `status.jsonl` has no `finished`. How far the job came is unknown.
        case lost
        /// There is no such attempt, or no job was launched in it.
        case notFound = "not-found"
        /// The attempt's directory already has a launched job.
        case exists
        /// The attempt's directory cannot be read or written.
        case directory
        /// A file in the attempt's directory has an unknown format.
        case malformed
    }

    package let code: Code
    /// What was tried, and on what.
    package let operation: String
    /// What happened, and what to do.
    package let message: String
    package let underlying: (any Error)?

    package init(_ code: Code, _ operation: String, _ message: String, underlying: (any Error)? = nil) {
        self.code = code
        self.operation = operation
        self.message = message
        self.underlying = underlying
    }

    init(_ error: JobProtocolError, _ code: Code = .malformed, attempt: String) {
        self.init(code, "\(error.operation) of \(attempt)", error.message, underlying: error)
    }

    package var description: String { "\(operation) failed: \(message)" }
}
