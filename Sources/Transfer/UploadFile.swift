/// A file to upload, and what must arrive.
package struct UploadFile: Sendable, Hashable {
    /// Of this machine.
    package let path: String
    /// Its name at the target: one path component.
    package let name: String
    /// 64 lower-case hexadecimal digits.
    package let sha256: String
    /// In bytes.
    package let size: Int64

    package init(path: String, name: String, sha256: String, size: Int64) {
        self.path = path
        self.name = name
        self.sha256 = sha256
        self.size = size
    }
}

/// How the target is reached.
package struct UploadOptions: Sendable {
    package var credentials: TransferCredentials?
    package var knownHosts: String?
    package var isPlainHTTPAllowed = false
    package var certificateAuthorities: String?
    /// Of each single request that carries no file's bytes, see `limits(for:)`; the response limit is not used.
    package var limits = TransferLimits()
    package var retries = UploadRetries()
    /// Names the parts beside, so that the same upload, begun again by another process, finds what it left and goes on there. Two that
    /// are under way at a time have different ones. Nothing: names that nobody finds again.
    package var session: String?
    /// Of the session's unfinished uploads into buckets; nothing: each process begins its own.
    package var memory: (any UploadMemory)?
    /// Told how far it is, from threads of the transport's: it must not block.
    package var progress: (@Sendable (UploadProgress) -> Void)?

    package init() {}

    /// Of a request that carries so many bytes of a file, in either direction: longer by what the slowest line takes for them.
    func limits(for size: Int64) -> TransferLimits {
        var limits = limits
        limits.total = limits.total.map { $0 + TransferLimits.time(for: size) }
        return limits
    }

    /// A session's name: the same for the same texts, 20 hexadecimal digits.
    package static func session(of texts: [String]) -> String {
        String(S3Signature.sha256(texts.joined(separator: "\n")).prefix(20))
    }
}

/// What became of one file.
package struct UploadResult: Sendable, Hashable {
    /// Both are success.
    package enum Outcome: String, Sendable {
        case uploaded
        /// The target held the very same bytes before: an upload whose answer was lost, or a rerun.
        case alreadyThere
    }

    package let name: String
    /// Without user, password and query.
    package let url: String
    package let outcome: Outcome

    package init(name: String, url: String, outcome: Outcome) {
        self.name = name
        self.url = url
        self.outcome = outcome
    }
}
