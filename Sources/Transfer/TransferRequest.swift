/// One request to another machine, or to a unix socket of this one.
///
/// For sftp URLs the methods mean: `get` reads a file, `put` writes it and makes missing directories, `move` renames and
/// never over something, `delete` removes a file, `head` asks for its size; the answers are given as the HTTP statuses of the same
/// outcome. For ftp and ftps they mean the same, but that servers rename over what is there (vsftpd 3.0.3 does). For smtp and
/// smtps there is `mail` alone, whose answer has the server's own code (RFC 5321, section 4.2) as its status and its words as its body.
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
        /// The body is a mail, handed to an SMTP server for the request's `envelope`.
        case mail = "MAIL"
    }

    /// What is sent with the request.
    package enum Body: Sendable, Hashable {
        case none
        case bytes([UInt8])
        /// A file's bytes as it is when the transfer begins. Streamed; its size is sent before.
        case file(path: String)
        /// So many of a file's bytes from an offset on.
        case filePart(path: String, offset: Int64, count: Int64)

        /// In bytes, where it is known before.
        var size: Int64 {
            switch self {
            case .none, .file: 0
            case .bytes(let bytes): Int64(bytes.count)
            case .filePart(_, _, let count): count
            }
        }
    }

    /// Where the answer's body goes.
    package enum Destination: Sendable, Hashable {
        /// Into `TransferResponse.body`.
        case memory
        /// Into a new file, mode 0600, that must not exist; removed when the transfer fails. Synchronized when it returns. Of an HTTP
        /// status other than 2xx there is no file either: its body is in `TransferResponse.body`, and has at most 64 KiB.
        case file(path: String)
        /// Nowhere: only counted and hashed.
        case digest
        /// Nowhere: the head is the whole answer, and a body that is too long, too slow or breaks off changes nothing.
        case head
    }

    package var method: Method
    /// https, sftp, ftps, smtps, smtp, or http and ftp where `isPlainHTTPAllowed` (http also where `unixSocket`) says so. An sftp path
    /// begins at the server's root, `/~/` at the user's home; an ftp path where the server puts the user. ftps is explicit TLS
    /// (RFC 4217) on port 21 or the URL's own, on port 990 TLS from the first byte.
    package var url: String
    package var headers: TransferHeaders
    package var body: Body
    /// The target of `move`: a URL on the same server.
    package var target: String?
    package var destination: Destination = .memory
    package var credentials: TransferCredentials?
    /// A known_hosts file; sftp is refused without one. List ed25519 keys only: with an RSA line libssh2 1.10 asks for
    /// the RSA key, signed with SHA-1, and fails.
    package var knownHosts: String?
    /// The socket to connect to instead of the URL's host.
    package var unixSocket: String?
    /// Of ftp too.
    package var isPlainHTTPAllowed = false
    /// A file of PEM certificates to trust instead of the machine's.
    package var certificateAuthorities: String?
    package var limits = TransferLimits()
    /// For a `put` of a file by sftp and ftp: from which of its bytes on; those before are at the server, which keeps them.
    package var resumeOffset: Int64 = 0
    /// Told as the body goes out: how many of its bytes have been handed over. Called on the transport's own thread: it must not block.
    package var progress: (@Sendable (_ bytes: Int64) -> Void)?
    /// Who a `mail` is from and for.
    package var envelope: MailEnvelope?
    /// Whether a `mail` to an smtp URL goes without TLS; else STARTTLS is required. It then carries no credentials.
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
