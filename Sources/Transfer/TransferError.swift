/// A transfer that could not be done. An HTTP status is no error of a `Transport`; it is one of an `Uploader`.
///
/// No text in it holds a password, a token, a key or a URL's user part.
package struct TransferError: Error, Sendable, CustomStringConvertible {
    /// What went wrong, for code that has to tell cases apart.
    package enum Code: String, Sendable {
        /// The URL, template, header or file name cannot be used.
        case invalid
        /// The scheme is none that is spoken, or one without encryption that the request does not allow.
        case schemeRefused
        /// No connection: name not found, refused, no route.
        case unreachable
        /// A time limit passed.
        case timedOut
        /// The connection broke after it was made; whether the server acted is not known.
        case interrupted
        /// The server's TLS certificate is not one that this machine trusts.
        case certificate
        /// The ssh host key is missing in, or differs from, the known hosts.
        case hostKey
        /// User, password, key or token were refused, or are needed.
        case credentials
        /// The server understood and will not.
        case denied
        case notFound
        /// The target exists with other bytes. It was left as it is.
        case exists
        /// The answer is larger than the request's limit.
        case tooLarge
        /// What was read back is not what was sent.
        case corrupted
        /// The server answered what is no success.
        case status
        /// A file of this machine could not be read or written.
        case file
        case canceled
        case other
    }

    package let code: Code
    /// What was tried, on what: `PUT https://files.example/kit/1.4.2/kit.tar.zst`.
    package let operation: String
    /// What happened and what to do.
    package let message: String
    package let underlying: (any Error)?
    /// Whether the server may have done what was asked all the same; of a mail it is known.
    package var mayHaveArrived = true
    /// The server's answer, where that is what was wrong.
    package let status: Int?

    package init(
        code: Code, operation: String, message: String, underlying: (any Error)? = nil, status: Int? = nil
    ) {
        self.code = code
        self.operation = operation
        self.message = message
        self.underlying = underlying
        self.status = status
    }

    package var description: String { "\(operation) failed: \(message)" }
}
