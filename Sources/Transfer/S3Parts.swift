import Basics
import Crypto
import Synchronization

/// How a file is cut for a multipart upload: the same each time, so that what is there of it can be used.
struct S3Parts: Sendable {
    /// Files below 16 MiB go in one request: two parts would be no better.
    static let threshold: Int64 = 16 << 20
    /// As small as may be, 5 MiB but for the last (AWS, "Multipart upload limits"): a line that breaks off before a part is through
    /// brings none.
    static let smallest: Int64 = 5 << 20
    /// AWS takes 10,000; 1,000 are listed in one answer, and OpenStack takes no more.
    static let maximumCount: Int64 = 1000

    let file: UploadFile
    /// Of each part but the last.
    let size: Int64

    init(_ file: UploadFile) {
        self.file = file
        let step: Int64 = 1 << 20
        size = max(Self.smallest, (file.size / Self.maximumCount / step + 1) * step)
    }

    var count: Int { Int((file.size + size - 1) / size) }

    func offset(_ number: Int) -> Int64 { Int64(number - 1) * size }

    func count(_ number: Int) -> Int64 { min(size, file.size - offset(number)) }

    /// What a part is known by.
    struct Digests: Sendable {
        let sha256: String
        /// What servers give as a part's ETag (AWS does where no key of its own encrypts).
        let md5: String
    }

    /// The digest of all parts, given one after the other.
    final class Whole: Sendable {
        private let hash = Mutex(SHA256())

        func update(_ bytes: UnsafeRawBufferPointer) { hash.withLock { $0.update(bufferPointer: bytes) } }

        var sha256: String { hash.withLock { Hexadecimal.encode($0.finalize()) } }
    }

    /// Reads a part. Blocks.
    /// - Parameter whole: Gets its bytes too.
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
