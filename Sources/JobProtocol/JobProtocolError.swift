/// Why a file of the job directory, a launch message or a path in a workspace could not be read or written.
package struct JobProtocolError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What went wrong, for code that has to tell cases apart.
    package enum Code: String, Sendable {
        /// Bytes that are no JSON, or JSON of another form than the protocol's.
        case malformed
        /// More than the documented limit of bytes, levels, files or entries.
        case overLimit = "over-limit"
        /// The other end of the launch socket went before it had sent what was awaited.
        case closed
        /// What the operating system said; `errno` has its number.
        case system
        /// A link, a device or a path that leads out of its place.
        case refused
        /// The other side of the launch socket is not who it must be, or said that it could not start the job.
        case launch
    }

    package let code: Code
    /// What was being tried, on what: `read job.json`.
    package let operation: String
    /// What happened and, where there is something to do, what to do.
    package let message: String
    /// The operating system's number, 0 where it has no part in it.
    package let errno: Int32

    package init(_ code: Code, _ operation: String, _ message: String, errno: Int32 = 0) {
        self.code = code
        self.operation = operation
        self.message = message
        self.errno = errno
    }

    package var description: String { "\(operation) failed: \(message)" }
}
