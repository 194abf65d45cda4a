import Basics
import Crypto
import Encodings
import Glibc

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
