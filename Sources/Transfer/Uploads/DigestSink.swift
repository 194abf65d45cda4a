import Basics
import Crypto
import Encodings
import Glibc

/// A sink that counts and hashes the body without storing it.
final class DigestSink: TransferSink {
    private let limit: Int64
    private var size: Int64 = 0
    private var hash = SHA256()

    init(limit: Int64) { self.limit = limit }

    func take(_ bytes: UnsafeRawBufferPointer, operation: String) throws(TransferError) -> Bool {
        size += Int64(bytes.count)
        guard size <= limit else { throw .answerTooLarge(limit, operation: operation) }
        hash.update(bufferPointer: bytes)
        return true
    }

    func close(status: Int, headers: TransferHeaders, operation: String) -> TransferResponse {
        TransferResponse(
            status: status, headers: headers, size: size, sha256: Hexadecimal.encode(hash.finalize()))
    }
}

/// A sink that writes the body to a new file and hashes it. If the status is not 2xx, the body is kept in memory
/// instead.
final class FileSink: TransferSink {
    /// The size limit in bytes of a body with another status: a sentence or a small page.
    static let refusalLimit: Int64 = 64 << 10

    private let path: String
    private let limit: Int64
    private var descriptor: Int32 = -1
    private var size: Int64 = 0
    private var hash = SHA256()
    /// The body with another status; `nil` if the file itself is sent.
    private var refusal: [UInt8]?

    init(path: String, limit: Int64) {
        self.path = path
        self.limit = limit
    }

    deinit { if descriptor >= 0 { Glibc.close(descriptor) } }

    func open(operation: String) throws(TransferError) {
        descriptor = Glibc.open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw failure(operation) }
    }

    func begin(status: Int, headers: TransferHeaders) {
        if !(200..<300).contains(status) { refusal = [] }
    }

    func take(_ bytes: UnsafeRawBufferPointer, operation: String) throws(TransferError) -> Bool {
        size += Int64(bytes.count)
        let limit = refusal == nil ? limit : Self.refusalLimit
        guard size <= limit else { throw .answerTooLarge(limit, operation: operation) }
        guard refusal == nil else {
            refusal?.append(contentsOf: bytes)
            return true
        }
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = UnsafeRawBufferPointer(rebasing: rest).withMemoryRebound(to: UInt8.self) {
                write(descriptor, $0.baseAddress, $0.count)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw failure(operation) }
            rest = rest.dropFirst(count)
        }
        hash.update(bufferPointer: bytes)
        return true
    }

    func close(status: Int, headers: TransferHeaders, operation: String) throws(TransferError) -> TransferResponse {
        if let refusal {
            abandon()
            return TransferResponse(status: status, headers: headers, body: refusal)
        }
        guard fsync(descriptor) == 0 else { throw failure(operation) }
        return TransferResponse(
            status: status, headers: headers, size: size, sha256: Hexadecimal.encode(hash.finalize()))
    }

    func abandon() {
        // Only removes a file that this transfer created. Without a descriptor the file is not its own.
        if descriptor >= 0 { unlink(path) }
    }

    private func failure(_ operation: String) -> TransferError {
        TransferError(
            code: .file, operation: operation,
            message: "\(path) cannot be written: " + String(cString: strerror(errno)))
    }
}
