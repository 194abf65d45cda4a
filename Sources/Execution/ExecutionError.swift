import JobProtocol

/// Why an attempt could not be started, followed or ended. What a job did wrong is never an error: it is an event.
package struct ExecutionError: Error, Sendable, CustomStringConvertible {
    /// What went wrong, for code that has to tell cases apart.
    package enum Code: String, Sendable {
        /// The launcher cannot be reached, and none could be started.
        case noLauncher = "no-launcher"
        /// The launcher or the supervisor said that it cannot run this now, for instance since there are too many processes.
        case notStarted = "not-started"
        /// What is to be run is larger than its limit, and will be the next time.
        case overLimit = "over-limit"
        /// The supervisor is gone and `status.jsonl` has no `finished`: nobody knows how far the job came.
        case lost
        /// There is no such attempt, or nothing was launched in it.
        case notFound = "not-found"
        /// The attempt's directory was made before.
        case exists
        /// The attempt's directory cannot be read or written.
        case directory
        /// A file in the attempt's directory is none of ours.
        case malformed
    }

    package let code: Code
    /// What was being tried, on what.
    package let operation: String
    /// What happened and what to do.
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
