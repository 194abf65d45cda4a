import Basics
import Crypto
import Foundation
import Glibc

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

    /// Reads a part. Blocks.
    func digests(_ number: Int) throws(TransferError) -> Digests {
        func failure(_ reason: String) -> TransferError {
            TransferError(
                code: .file, operation: "upload of \(file.name)", message: "\(file.path) cannot be read: \(reason)")
        }
        let descriptor = open(file.path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure(String(cString: strerror(errno))) }
        defer { close(descriptor) }
        var (sha256, md5) = (SHA256(), Insecure.MD5())
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 16)
        defer { buffer.deallocate() }
        var position = offset(number)
        let end = position + count(number)
        while position < end {
            let count = pread(
                descriptor, buffer.baseAddress, Int(min(Int64(buffer.count), end - position)), off_t(position))
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                throw failure(count == 0 ? "it became shorter meanwhile" : String(cString: strerror(errno)))
            }
            let read = UnsafeRawBufferPointer(rebasing: buffer[..<count])
            sha256.update(bufferPointer: read)
            md5.update(bufferPointer: read)
            position += Int64(count)
        }
        return Digests(
            sha256: Hexadecimal.encode(sha256.finalize()), md5: Hexadecimal.encode(md5.finalize()))
    }
}
