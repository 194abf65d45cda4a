/// What keeps this library from doing its work. What is wrong in a file that people wrote is a `Diagnostic` instead.
package struct SettingsError: Error, CustomStringConvertible {
    /// What went wrong, for code that has to tell cases apart.
    package enum Code: String, Sendable, CaseIterable {
        /// No directory was given in which secrets could be.
        case notConfigured
        /// The name is not a secret's name.
        case badName
        /// The file may be read by others than its owner.
        case readableByOthers
        /// The secret is empty, too long, or no UTF-8 text.
        case badValue
        /// It is for the service alone, and was asked for on behalf of a bot.
        case withheld
        /// The system refused to read or write.
        case unreadable, unwritable
    }

    package var code: Code
    /// What was tried, such as `read secret kit-webhook`.
    package var operation: String
    /// What happened and what to do; never a secret's value.
    package var message: String
    package var underlying: (any Error)?

    package init(code: Code, operation: String, message: String, underlying: (any Error)? = nil) {
        self.code = code
        self.operation = operation
        self.message = message
        self.underlying = underlying
    }

    package var description: String { "\(operation): \(message)" }
}
