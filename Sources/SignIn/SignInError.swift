/// The reason why a provider did not sign a person in. The message is fit for outsiders; the cause is for the log.
package struct SignInError: Error, Sendable, CustomStringConvertible {
    /// The kind of failure.
    package enum Code: String, Sendable {
        /// The provider's answer is not acceptable: forged, expired, meant for another client, or incomplete.
        case refused
        /// The provider cannot be asked, or its answers make no sense: an operator has to look.
        case unavailable
    }

    package let code: Code
    /// A sentence without a secret and without text of the provider.
    package let message: String
    /// The cause, for the log only.
    package let underlying: (any Error)?

    package init(_ code: Code, _ message: String, underlying: (any Error)? = nil) {
        (self.code, self.message, self.underlying) = (code, message, underlying)
    }

    package var description: String { underlying.map { "\(message) (\($0))" } ?? message }
}
