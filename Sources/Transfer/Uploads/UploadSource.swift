import Glibc

/// The body of a request: bytes, an open file, or a part of a file.
final class UploadSource {
    /// The size in bytes.
    let size: Int64
    private let bytes: [UInt8]
    private let descriptor: Int32?
    /// The offset of the first byte in the file.
    private let start: Int64
    private var offset: Int64 = 0

    /// Opens a body.
    /// - Parameter skipping: The number of first bytes of a file that are left out.
    /// - Throws: `file` if the file cannot be opened, is not a regular file, or has fewer bytes.
    init(_ body: TransferRequest.Body, skipping: Int64 = 0, operation: String) throws(TransferError) {
        switch body {
        case .none: (bytes, descriptor, size, start) = ([], nil, 0, 0)
        case .bytes(let content): (bytes, descriptor, size, start) = (content, nil, Int64(content.count), 0)
        case .file(let path):
            let (number, whole) = try Self.open(path, operation: operation)
            (bytes, descriptor, size, start) = ([], number, whole - skipping, skipping)
        case .filePart(let path, let offset, let count):
            let (number, whole) = try Self.open(path, operation: operation)
            let isWithin = offset >= 0 && count >= 0 && offset <= whole && count <= whole - offset
            (bytes, descriptor, size, start) = ([], number, isWithin ? count : -1, offset)
        }
        guard size >= 0 else {
            if let descriptor { close(descriptor) }
            throw TransferError(
                code: .file, operation: operation, message: "the file is shorter than the part to send")
        }
    }

    deinit { if let descriptor { close(descriptor) } }

    private static func open(_ path: String, operation: String) throws(TransferError) -> (Int32, Int64) {
        func failure(_ message: String) -> TransferError {
            TransferError(code: .file, operation: operation, message: "\(path) cannot be sent: \(message)")
        }
        // O_NONBLOCK: opening a pipe must not block the thread.
        let number = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard number >= 0 else { throw failure(String(cString: strerror(errno))) }
        var status = stat()
        guard fstat(number, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(number)
            throw failure("it is not a regular file")
        }
        return (number, Int64(status.st_size))
    }

    /// The number of bytes that were read, which is the offset of the next read.
    var position: Int64 { offset }

    /// Sets the offset of the next read, if libcurl restarts a transfer or continues within a file.
    func seek(to offset: Int64) { self.offset = offset }

    /// Reads the next bytes.
    /// - Returns: The number of bytes; 0 at the end.
    /// - Throws: `file` if the file has become shorter or cannot be read.
    func read(into space: UnsafeMutableRawBufferPointer, operation: String) throws(TransferError) -> Int {
        let wanted = Int(min(Int64(space.count), size - offset))
        guard wanted > 0 else { return 0 }
        guard let descriptor else {
            bytes.withUnsafeBytes { space.copyMemory(from: .init(rebasing: $0[Int(offset)..<Int(offset) + wanted])) }
            offset += Int64(wanted)
            return wanted
        }
        while true {
            let count = pread(descriptor, space.baseAddress, wanted, off_t(start + offset))
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                let reason = count == 0 ? "it became shorter meanwhile" : String(cString: strerror(errno))
                throw TransferError(
                    code: .file, operation: operation, message: "reading what is sent failed: \(reason)")
            }
            offset += Int64(count)
            return count
        }
    }
}
