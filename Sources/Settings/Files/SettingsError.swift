/// An error of this library. Errors in a file that users wrote are `Diagnostic`s instead.
package struct SettingsError: Error, CustomStringConvertible {
    /// The kind of error, for code that distinguishes cases.
    package enum Code: String, Sendable, CaseIterable {
        /// No directory of secrets is configured.
        case notConfigured
        /// The name is not a secret's name.
        case badName
        /// Users other than the file's owner may read or write it.
        case readableByOthers
        /// The secret is empty, too long, contains ESC or NUL, or is not UTF-8 text.
        case badValue
        /// The secret is reserved for the service, and was requested on behalf of a bot.
        case withheld
        /// The system refused to read or write.
        case unreadable, unwritable
    }

    package var code: Code
    /// The failed operation, such as `read secret kit-webhook`.
    package var operation: String
    /// What happened and what to do. It never contains a secret's value.
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
