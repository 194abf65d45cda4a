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
/// rename (vsftpd 3.0.3 does). For smtp and smtps there are `mail`, and `head`, which signs in and sends NOOP (RFC 5321, section 4.1.1.9). The
/// answer has the server's code (RFC 5321, section 4.2) as its status, and the server's text as its body.
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

/// Header fields in their order. Names are compared without case (RFC 9110, section 5.1).
package struct TransferHeaders: Sendable, Hashable, ExpressibleByDictionaryLiteral {
    /// A header field.
    package struct Field: Sendable, Hashable {
        package var name: String
        package var value: String

        package init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    package var fields: [Field]

    package init(_ fields: [Field] = []) { self.fields = fields }

    package init(dictionaryLiteral elements: (String, String)...) {
        fields = elements.map { Field(name: $0.0, value: $0.1) }
    }

    /// The first value of a name; `nil` if there is none. Setting a value replaces every field of the name; setting
    /// `nil` removes them.
    package subscript(_ name: String) -> String? {
        get { fields.first { $0.name.lowercased() == name.lowercased() }?.value }
        set {
            fields.removeAll { $0.name.lowercased() == name.lowercased() }
            if let newValue { fields.append(Field(name: name, value: newValue)) }
        }
    }

    /// Appends a field, even if there are fields with the same name.
    package mutating func append(_ name: String, _ value: String) { fields.append(Field(name: name, value: value)) }
}

/// The limits of a transfer's time and size.
package struct TransferLimits: Sendable, Hashable {
    /// The time until the connection is established, including TLS or ssh. 10 s are enough for three lost SYNs (1 + 2 +
    /// 4 s).
    package var connect: Duration = .seconds(10)
    /// The time from the first to the last byte; `nil` means no limit.
    package var total: Duration? = .seconds(3600)
    /// The longest time with less than one byte per second; `nil` means no limit.
    package var stall: Duration? = .seconds(60)
    /// The size limit of the answer's body in bytes; a larger answer fails as `tooLarge`. 16 MiB are enough for every
    /// JSON answer; downloads set their own limit.
    package var response: Int64 = 16 << 20

    /// Returns the time for a number of bytes at the slowest rate that is accepted: 16 KiB per second (128 kbit/s).
    package static func time(for bytes: Int64) -> Duration { .seconds(bytes / (16 << 10)) }

    /// The size limit in bytes of all header fields of an answer together.
    package static let headers = 256 << 10

    package init(
        connect: Duration = .seconds(10), total: Duration? = .seconds(3600), stall: Duration? = .seconds(60),
        response: Int64 = 16 << 20
    ) {
        self.connect = connect
        self.total = total
        self.stall = stall
        self.response = response
    }
}

/// The sender and the recipient of a mail, as the servers on its way see them (RFC 5321, section 2.3.1). A mail has one recipient, so that its result
/// is for that one, and a refused address does not affect other recipients.
package struct MailEnvelope: Sendable, Hashable {
    /// The address to which servers report mails that they cannot deliver.
    package var sender: String
    package var recipient: String

    /// The size limit of an address in bytes (RFC 5321, section 4.5.3.1.3, erratum 1690).
    static let maximumAddress = 254

    /// Creates an envelope of two addresses, without names and angle brackets.
    package init(from sender: String, to recipient: String) {
        self.sender = sender
        self.recipient = recipient
    }

    /// Whether an address can be used between angle brackets in a command: printable ASCII, without characters that end or divide it.
    static func isSafe(_ address: String) -> Bool {
        (3...maximumAddress).contains(address.utf8.count) && address.utf8.contains(UInt8(ascii: "@"))
            && address.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"<>()[]\\,;:\"".utf8.contains($0) }
    }
}
