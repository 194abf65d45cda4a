import Basics
import Crypto
import Encodings
import Synchronization

/// The division of a file into parts for a multipart upload. It is the same each time, so that existing parts can be used.
struct S3Parts: Sendable {
    /// The smallest size in bytes of a file that is sent in parts. Smaller files (below 16 MiB) are sent in one request.
    static let threshold: Int64 = 16 << 20
    /// The smallest possible size of a part in bytes: 5 MiB, except for the last (AWS, "Multipart upload limits"). An interrupted part has to be sent
    /// again, so small parts are better.
    static let smallest: Int64 = 5 << 20
    /// The largest number of parts. AWS accepts 10,000, but lists 1,000 in one answer, and OpenStack accepts no more than that.
    static let maximumCount: Int64 = 1000

    let file: UploadFile
    /// The size in bytes of each part but the last.
    let size: Int64

    init(_ file: UploadFile) {
        self.file = file
        let step: Int64 = 1 << 20
        size = max(Self.smallest, (file.size / Self.maximumCount / step + 1) * step)
    }

    var count: Int { Int((file.size + size - 1) / size) }

    func offset(_ number: Int) -> Int64 { Int64(number - 1) * size }

    func count(_ number: Int) -> Int64 { min(size, file.size - offset(number)) }

    /// The digests of a part.
    struct Digests: Sendable {
        let sha256: String
        /// The ETag that servers give a part (AWS does unless it encrypts with another key).
        let md5: String
    }

    /// The digest of all parts, which must be added in order.
    final class Whole: Sendable {
        private let hash = Mutex(SHA256())

        func update(_ bytes: UnsafeRawBufferPointer) { hash.withLock { $0.update(bufferPointer: bytes) } }

        var sha256: String { hash.withLock { Hexadecimal.encode($0.finalize()) } }
    }

    /// Computes the digests of a part. Blocks while it reads the part.
    /// - Parameter whole: Also gets the part's bytes.
    func digests(_ number: Int, into whole: Whole) throws(TransferError) -> Digests {
        var (sha256, md5) = (SHA256(), Insecure.MD5())
        try file.read(from: offset(number), count: count(number)) { bytes in
            sha256.update(bufferPointer: bytes)
            md5.update(bufferPointer: bytes)
            whole.update(bytes)
        }
        return Digests(
            sha256: Hexadecimal.encode(sha256.finalize()), md5: Hexadecimal.encode(md5.finalize()))
    }
}
