/// Something that could not be packed, kept or published.
package struct ArchiveError: Error, Sendable, CustomStringConvertible {
    /// What went wrong, for code that has to tell cases apart.
    package enum Code: String, Sendable {
        /// A name, triple or version that cannot become a file's name.
        case invalidName
        /// Two files of one name.
        case duplicateName
        /// The version exists with other bytes. It was left as it is.
        case exists
        /// A file changed while it was read, or is not what its digest says.
        case corrupted
        /// An archive's entry that leads out of its place, or is neither file, directory nor link.
        case unsafeEntry
        /// Over a documented limit.
        case tooLarge
        case notFound
        /// A key that cannot sign.
        case key
        /// A signature, or who may have made it, that cannot be read.
        case signature
        /// A file operation failed; `underlying` says which.
        case file
        /// libarchive failed.
        case library
    }

    package let code: Code
    /// What was tried, on what: `publish of kit 1.4.2`.
    package let operation: String
    /// What happened and what to do.
    package let message: String
    package let underlying: (any Error)?

    package init(code: Code, operation: String, message: String, underlying: (any Error)? = nil) {
        self.code = code
        self.operation = operation
        self.message = message
        self.underlying = underlying
    }

    /// Wraps what a file operation threw.
    init(_ operation: String, _ error: any Error) {
        if let error = error as? ArchiveError {
            self = error
        } else {
            self.init(code: .file, operation: operation, message: "\(error)", underlying: error)
        }
    }

    package var description: String { "\(operation) failed: \(message)" }
}
