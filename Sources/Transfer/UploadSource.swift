import Glibc

/// What a request sends: bytes, or an open file.
final class UploadSource {
    /// In bytes.
    let size: Int64
    private let bytes: [UInt8]
    private let descriptor: Int32?
    private var offset: Int64 = 0

    /// - Throws: `file` when it cannot be opened or is no regular file.
    init(_ body: TransferRequest.Body, operation: String) throws(TransferError) {
        switch body {
        case .none: (bytes, descriptor, size) = ([], nil, 0)
        case .bytes(let content): (bytes, descriptor, size) = (content, nil, Int64(content.count))
        case .file(let path):
            func failure(_ message: String) -> TransferError {
                TransferError(code: .file, operation: operation, message: "\(path) cannot be sent: \(message)")
            }
            // O_NONBLOCK: a pipe must not hold the thread up.
            let number = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
            guard number >= 0 else { throw failure(String(cString: strerror(errno))) }
            var status = stat()
            guard fstat(number, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
                close(number)
                throw failure("it is no regular file")
            }
            (bytes, descriptor, size) = ([], number, Int64(status.st_size))
        }
    }

    deinit { if let descriptor { close(descriptor) } }

    /// For a transfer that libcurl has to begin anew.
    func seek(to offset: Int64) { self.offset = offset }

    /// - Returns: 0 at the end.
    /// - Throws: `file` when the file became shorter meanwhile or cannot be read.
    func read(into space: UnsafeMutableRawBufferPointer, operation: String) throws(TransferError) -> Int {
        let wanted = Int(min(Int64(space.count), size - offset))
        guard wanted > 0 else { return 0 }
        guard let descriptor else {
            bytes.withUnsafeBytes { space.copyMemory(from: .init(rebasing: $0[Int(offset)..<Int(offset) + wanted])) }
            offset += Int64(wanted)
            return wanted
        }
        while true {
            let count = pread(descriptor, space.baseAddress, wanted, off_t(offset))
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
