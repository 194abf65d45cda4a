/// The reason why a delivery cannot be read. The message is fit for its sender: it names what was sent and what to do.
package struct ForgeError: Error, CustomStringConvertible {
    /// The kinds of errors.
    package enum Code: String, Sendable {
        /// The delivery is malformed, or belongs to another forge.
        case invalid
        /// The delivery exceeds a limit.
        case tooLarge
        /// The delivery cannot be read now, but may be sent again.
        case unavailable
    }

    package let code: Code
    package let message: String
    /// The cause, for the log only.
    package let underlying: (any Error)?

    package init(_ code: Code, _ message: String, underlying: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.underlying = underlying
    }

    package var description: String { message }
}
