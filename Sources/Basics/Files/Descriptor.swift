import CLinux
import Glibc

/// A file descriptor that is closed with its owner. It is internal to this module; `Directory` and `FileLock` own
/// theirs.
final class Descriptor: Sendable {
    let number: Int32

    init(_ number: Int32) { self.number = number }
    deinit { close(number) }

    func status(operation: String, path: String) throws(FileError) -> FileStatus {
        var status = stat()
        guard fstat(number, &status) == 0 else { throw FileError(operation: operation, path: path, errno: errno) }
        return FileStatus(status)
    }

    /// Reads to the end of the file, regardless of the size that its status states.
    /// - Parameter limit: In bytes.
    /// - Throws: `tooLarge` if the file is longer than `limit`.
    func readAll(limit: Int, path: String) throws(FileError) -> [UInt8] {
        let expected = try status(operation: "read", path: path).size
        var bytes: [UInt8] = []
        // One byte more than expected, so that a file of the expected size ends with the second, empty read.
        bytes.reserveCapacity(Int(min(expected, Int64(limit))) + 1)
        let chunk = 64 * 1024
        while true {
            var failure: Int32 = 0
            let part = [UInt8](unsafeUninitializedCapacity: chunk) { buffer, count in
                let result = Glibc.read(number, buffer.baseAddress, chunk)
                failure = result < 0 ? errno : 0
                count = max(0, result)
            }
            if failure == EINTR { continue }
            guard failure == 0 else { throw FileError(operation: "read", path: path, errno: failure) }
            if part.isEmpty { return bytes }
            bytes += part
            guard bytes.count <= limit else {
                throw FileError(
                    code: .tooLarge, operation: "read", path: path, message: "it is larger than \(limit) bytes")
            }
        }
    }

    func writeAll(_ bytes: [UInt8], path: String) throws(FileError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let (written, failure) = rest.withUnsafeBytes { buffer in
                let result = Glibc.write(number, buffer.baseAddress, buffer.count)
                return (result, result < 0 ? errno : 0)
            }
            if failure == EINTR { continue }
            guard failure == 0 else { throw FileError(operation: "write", path: path, errno: failure) }
            rest = rest.dropFirst(written)
        }
    }

    func synchronize(path: String) throws(FileError) {
        guard fsync(number) == 0 else { throw FileError(operation: "fsync", path: path, errno: errno) }
    }
}
