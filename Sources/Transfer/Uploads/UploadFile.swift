/// A file to upload, with its expected content.
package struct UploadFile: Sendable, Hashable {
    /// The path on this machine.
    package let path: String
    /// The name at the target: one path component.
    package let name: String
    /// The expected digest: 64 lower-case hexadecimal digits.
    package let sha256: String
    /// The expected size in bytes.
    package let size: Int64

    package init(path: String, name: String, sha256: String, size: Int64) {
        self.path = path
        self.name = name
        self.sha256 = sha256
        self.size = size
    }
}

/// Options for an upload.
package struct UploadOptions: Sendable {
    package var credentials: TransferCredentials?
    package var knownHosts: String?
    package var isPlainHTTPAllowed = false
    package var certificateAuthorities: String?
    /// The limits of each request that does not carry a file's bytes; see `limits(for:)`. The response limit is not used.
    package var limits = TransferLimits()
    package var retries = UploadRetries()
    /// A name for the temporary parts. Another process that repeats the upload finds the parts of the same session and continues with them.
    /// Concurrent uploads must have different sessions. `nil` means random names.
    package var session: String?
    /// A store for the session's unfinished uploads to buckets. If it is `nil`, each process starts new uploads.
    package var memory: (any UploadStateStore)?
    /// Called with the progress, on threads of the transport. It must not block.
    package var progress: (@Sendable (UploadProgress) -> Void)?

    package init() {}

    /// Returns the limits of a request that sends or receives a number of bytes of a file. The time limit is extended by the time that the slowest
    /// accepted connection needs for them.
    func limits(for size: Int64) -> TransferLimits {
        var limits = limits
        limits.total = limits.total.map { $0 + TransferLimits.time(for: size) }
        return limits
    }

    /// Returns a session's name of 20 hexadecimal digits. It is the same for the same texts.
    package static func session(of texts: [String]) -> String {
        String(S3Signature.sha256(texts.joined(separator: "\n")).prefix(20))
    }
}

/// The result of uploading a file.
package struct UploadResult: Sendable, Hashable {
    /// The outcome. Both mean success.
    package enum Outcome: String, Sendable {
        case uploaded
        /// The target already held the same bytes: from an upload whose answer was lost, or from an earlier run.
        case alreadyThere
    }

    package let name: String
    /// The URL without user, password and query.
    package let url: String
    package let outcome: Outcome

    package init(name: String, url: String, outcome: Outcome) {
        self.name = name
        self.url = url
        self.outcome = outcome
    }
}
