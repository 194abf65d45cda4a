import Basics

/// The failure of a transfer. An HTTP status is not an error of a `Transport`, but it is one of an `Uploader`.
///
/// Its texts never contain a password, a token, a key or a URL's user part.
package struct TransferError: CausedError, Sendable, CustomStringConvertible {
    /// The kind of failure, for programs.
    package enum Code: String, Sendable {
        /// The URL, template, header or file name cannot be used.
        case invalid
        /// The scheme is not supported, or is unencrypted and not allowed by the request.
        case schemeRefused
        /// There is no connection: the name was not found, the connection was refused, or there is no route.
        case unreachable
        /// A time limit passed.
        case timedOut
        /// The connection broke after it was made. Whether the server acted is unknown.
        case interrupted
        /// The server's TLS certificate is not trusted by this machine.
        case certificate
        /// The ssh host key is missing in the known hosts, or differs from them.
        case hostKey
        /// The user, password, key or token was refused or is missing.
        case credentials
        /// The server denies the request.
        case denied
        case notFound
        /// The target exists with other bytes. It was not changed.
        case exists
        /// The answer is larger than the request's limit.
        case tooLarge
        /// The bytes that were read back are not those that were sent.
        case corrupted
        /// The server answered with a status that is not a success.
        case status
        /// A file of this machine could not be read or written.
        case file
        case canceled
        case other
    }

    package let code: Code
    /// What was tried, and on what: `PUT https://files.example/kit/1.4.2/kit.tar.zst`.
    package let operation: String
    /// What happened, and what to do.
    package let message: String
    package let underlying: (any Error)?
    /// Whether the server may have carried out the request nevertheless. `true` unless it is known; it is determined
    /// for mails.
    package var mayHaveArrived = true
    /// The status of the server's answer, if that is the failure.
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

extension TransferError {
    /// Whether the server refuses the credentials, or its certificate or host key is not trusted.
    package var isOfCredentials: Bool { [.certificate, .hostKey, .credentials].contains(code) }
}
