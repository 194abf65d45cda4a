/// The reason why a file of the job directory, a launch message or a path in a workspace could not be read or written.
package struct JobProtocolError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kind of failure, for programs.
    package enum Code: String, Sendable {
        /// The bytes are not JSON, or not the JSON of the protocol.
        case malformed
        /// A documented limit of bytes, levels, files or entries is exceeded.
        case overLimit = "over-limit"
        /// The other end closed the launch socket before it had sent everything.
        case closed
        /// A system call failed; see `errno`.
        case system
        /// A link, a device, or a path that leads outside.
        case refused
    }

    package let code: Code
    /// What was tried, and on what: `read job.json`.
    package let operation: String
    /// What happened and, if possible, what to do.
    package let message: String
    /// The error number of the system call; 0 if none failed.
    package let errno: Int32

    package init(_ code: Code, _ operation: String, _ message: String, errno: Int32 = 0) {
        self.code = code
        self.operation = operation
        self.message = message
        self.errno = errno
    }

    package var description: String { "\(operation) failed: \(message)" }
}
