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
    /// Of each single request; the response limit is not used.
    package var limits = TransferLimits()

    package init() {}
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
