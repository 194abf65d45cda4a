import Basics
import Crypto
import Encodings
import Glibc

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

extension UploadFile {
    /// Reads bytes of the file in pieces. Blocks.
    /// - Throws: `file` if it cannot be read or has become shorter.
    func read(
        from offset: Int64, count: Int64, _ body: (UnsafeRawBufferPointer) -> Void
    ) throws(TransferError) {
        func failure(_ reason: String) -> TransferError {
            TransferError(code: .file, operation: "upload of \(name)", message: "\(path) cannot be read: \(reason)")
        }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure(String(cString: strerror(errno))) }
        defer { close(descriptor) }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 16)
        defer { buffer.deallocate() }
        var position = offset
        let end = offset + count
        while position < end {
            let count = pread(
                descriptor, buffer.baseAddress, Int(min(Int64(buffer.count), end - position)), off_t(position))
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                throw failure(count == 0 ? "it became shorter meanwhile" : String(cString: strerror(errno)))
            }
            body(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            position += Int64(count)
        }
    }

    /// Whether the file begins with some bytes and is longer than these. Blocks.
    /// - Parameters:
    ///   - size: The number of bytes.
    ///   - sha256: Their digest.
    func beginsWith(_ size: Int64, sha256: String?) throws(TransferError) -> Bool {
        guard size < self.size else { return false }
        var hash = SHA256()
        try read(from: 0, count: size) { hash.update(bufferPointer: $0) }
        return Hexadecimal.encode(hash.finalize()) == sha256
    }
}
