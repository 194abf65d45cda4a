import Forges

/// The reason why a request of a user or of another program was not carried out. The message is fit for outsiders: it names what they sent and what
/// to do, never a path, a query or a secret of the machine.
package struct OperationError: Error, CustomStringConvertible {
    /// The kinds of errors. Each corresponds to one HTTP status (`Web/Routing/Problem.swift`).
    package enum Code: String, Sendable {
        /// The named object does not exist.
        case notFound
        /// The request, or a value in it, is malformed.
        case invalid
        /// The signature or token is missing or wrong.
        case unauthenticated
        /// The request contradicts the stored state: the object is finished already, or the same delivery came with another body.
        case conflict
        /// The request exceeds a limit.
        case tooLarge
        /// The request may succeed later: the disk is full, or the repository cannot be reached.
        case unavailable
        /// The service is at fault; the log contains the cause.
        case `internal`
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

    /// Runs `body`, and converts the error of a delivery that cannot be read.
    static func forDelivery<Value>(_ body: () throws(ForgeError) -> Value) throws(OperationError) -> Value {
        do {
            return try body()
        } catch {
            let code: Code =
                switch error.code {
                case .invalid: .invalid
                case .tooLarge: .tooLarge
                case .unavailable: .unavailable
                }
            throw OperationError(code, error.message, underlying: error.underlying)
        }
    }
}
