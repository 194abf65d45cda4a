/// A request to another machine, or to a Unix socket of this one.
///
/// For sftp URLs the methods have these meanings:
///
/// - `get` reads a file.
/// - `put` writes a file and creates missing directories.
/// - `move` renames and never replaces.
/// - `delete` removes a file.
/// - `head` gets its size.
///
/// The answers have the HTTP statuses of the same outcomes. For ftp and ftps the meanings are the same, except that servers may replace a file by a
/// rename (vsftpd 3.0.3 does). For smtp and smtps there is only `mail`. Its answer has the server's code (RFC 5321, section 4.2) as its status, and
/// the server's text as its body.
package struct TransferRequest: Sendable {
    /// A method by RFC 9110, RFC 5789 or RFC 4918.
    package enum Method: String, Sendable, Hashable {
        case get = "GET"
        case head = "HEAD"
        case put = "PUT"
        case post = "POST"
        case patch = "PATCH"
        case delete = "DELETE"
        case move = "MOVE"
        case makeCollection = "MKCOL"
        /// Sends the body as a mail to an SMTP server, for the request's `envelope`.
        case mail = "MAIL"
    }

    /// The body of the request.
    package enum Body: Sendable, Hashable {
        case none
        case bytes([UInt8])
        /// The content of a file when the transfer starts. It is streamed, and its size is sent first.
        case file(path: String)
        /// A number of a file's bytes from an offset on.
        case filePart(path: String, offset: Int64, count: Int64)

        /// The size in bytes if it is known in advance, otherwise 0.
        var size: Int64 {
            switch self {
            case .none, .file: 0
            case .bytes(let bytes): Int64(bytes.count)
            case .filePart(_, _, let count): count
            }
        }
    }

    /// The destination of the answer's body.
    package enum Destination: Sendable, Hashable {
        /// The body is in `TransferResponse.body`.
        case memory
        /// The body is written to a new file with mode 0600, which must not exist, and synchronized. The file is removed if the transfer fails. For
        /// an HTTP status other than 2xx there is no file; the body is in `TransferResponse.body` and has at most 64 KiB.
        case file(path: String)
        /// The body is only counted and hashed.
        case digest
        /// The body is ignored: the header fields are the answer. A body that is too long, too slow or interrupted is not an error.
        case head
    }

    package var method: Method
    /// The URL. The schemes are https, sftp, ftps, smtps and smtp. http and ftp need `isPlainHTTPAllowed`; http is also allowed with `unixSocket`.
    ///
    /// An sftp path begins at the server's root, or with `/~/` at the user's home. An ftp path begins in the user's directory at the server. ftps
    /// means explicit TLS (RFC 4217) on port 21 or the URL's port, except on port 990, where TLS starts with the first byte.
    package var url: String
    package var headers: TransferHeaders
    package var body: Body
    /// The target of `move`: a URL on the same server.
    package var target: String?
    package var destination: Destination = .memory
    package var credentials: TransferCredentials?
    /// The path of a known_hosts file, which sftp requires. It should contain only ed25519 keys: with an RSA line, libssh2 1.10 requests the RSA key,
    /// signed with SHA-1, and fails.
    package var knownHosts: String?
    /// The socket to connect to instead of the URL's host.
    package var unixSocket: String?
    /// Whether unencrypted http and ftp are allowed.
    package var isPlainHTTPAllowed = false
    /// The path of a file of PEM certificates that are trusted instead of the machine's.
    package var certificateAuthorities: String?
    package var limits = TransferLimits()
    /// The offset in bytes from which a `put` by sftp or ftp sends the file. The server already has the bytes before it, and keeps them.
    package var resumeOffset: Int64 = 0
    /// Called while the body is sent, with the number of its bytes that were sent. It runs on the transport's thread and must not block.
    package var progress: (@Sendable (_ bytes: Int64) -> Void)?
    /// The sender and recipient of a `mail`.
    package var envelope: MailEnvelope?
    /// Whether a `mail` to an smtp URL is sent without TLS. Otherwise STARTTLS is required. Without TLS, credentials are refused.
    package var isPlainMailAllowed = false

    package init(
        _ method: Method, _ url: String, headers: TransferHeaders = [:], body: Body = .none,
        credentials: TransferCredentials? = nil
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.credentials = credentials
    }
}
