/// Why something that a person or another program asked for was not done. The message is fit for outsiders: it names
/// what they sent and what to do, never a path, a query or a secret of the machine.
package struct OperationError: Error, CustomStringConvertible {
    /// The kinds; each is one HTTP status (`Web/Problem.swift`).
    package enum Code: String, Sendable {
        /// What was named does not exist.
        case notFound
        /// The request is malformed, or a value in it is.
        case invalid
        /// The signature or token is missing or wrong.
        case unauthenticated
        /// It contradicts what is stored: finished already, same delivery with another body.
        case conflict
        /// Over a limit.
        case tooLarge
        /// It may work later: the disk is full, the repository cannot be reached.
        case unavailable
        /// Our own fault; the log has the cause.
        case `internal`
    }

    package let code: Code
    package let message: String
    /// For the log only.
    package let underlying: (any Error)?

    package init(_ code: Code, _ message: String, underlying: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.underlying = underlying
    }

    package var description: String { message }
}
