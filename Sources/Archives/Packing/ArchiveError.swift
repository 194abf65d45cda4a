import Basics

/// A failure to pack, store, publish or verify files.
package struct ArchiveError: CausedError, Sendable, CustomStringConvertible {
    /// The kind of failure, for programs.
    package enum Code: String, Sendable {
        /// A name, triple or version that cannot be used as a file name.
        case invalidName
        /// Two files have the same name.
        case duplicateName
        /// The version exists with other bytes. It was not changed.
        case exists
        /// A file changed while it was read, or does not match its digest.
        case corrupted
        /// A documented limit is exceeded.
        case tooLarge
        case notFound
        /// The key cannot be used for signing.
        case key
        /// A signature or a list of allowed signers cannot be read.
        case signature
        /// A file operation failed; see `underlying`.
        case file
        /// libarchive failed.
        case library
    }

    package let code: Code
    /// What was tried, and on what: `publish of kit 1.4.2`.
    package let operation: String
    /// What happened, and what to do.
    package let message: String
    package let underlying: (any Error)?

    package init(code: Code, operation: String, message: String, underlying: (any Error)? = nil) {
        self.code = code
        self.operation = operation
        self.message = message
        self.underlying = underlying
    }

    /// Wraps an error of a file operation. Keeps an `ArchiveError` unchanged.
    package init(_ operation: String, _ error: any Error) {
        if let error = error as? ArchiveError {
            self = error
        } else {
            self.init(code: .file, operation: operation, message: "\(error)", underlying: error)
        }
    }

    package var description: String { "\(operation) failed: \(message)" }
}
