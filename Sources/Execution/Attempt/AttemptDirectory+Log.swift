import CLinux
import Glibc
package import JobProtocol

extension AttemptDirectory {
    /// The largest number of bytes that a call of `readLog` returns.
    package static let logReadLimit = 4 << 20

    /// The number of bytes in the log so far; 0 if there is no log.
    package var logSize: Int64 {
        // An unreadable log is treated as empty.
        (try? AttemptLog.open(in: path))??.size ?? 0
    }

    /// Reads a part of the log. Returns fewer bytes than requested near its end; empty at the end, and if there is no log yet.
    /// - Parameter count: The number of bytes, limited to `logReadLimit`.
    /// - Throws: `.directory`; `.malformed` for a damaged compressed log.
    package func readLog(from offset: Int64, count: Int) throws(ExecutionError) -> [UInt8] {
        try AttemptLog.open(in: path)?.read(at: offset, count: min(count, Self.logReadLimit)) ?? []
    }

    /// Reads the records of the index from the index `first` on. A record that is being written is left out.
    /// - Parameter limit: The largest number of records. The default is enough for a log of 64 MiB in lines of 512 bytes.
    /// - Throws: `.directory`.
    package func readIndex(from first: Int = 0, limit: Int = 128 * 1024) throws(ExecutionError) -> [LogIndexRecord] {
        let size = LogIndexRecord.size
        let bytes = try readPart(paths.logIndex, from: Int64(first * size), count: limit * size)
        return (0..<bytes.count / size).compactMap { LogIndexRecord(bytes[$0 * size..<($0 + 1) * size]) }
    }

    /// Reads at most `count` bytes of a file from `offset` on; empty if the file does not exist.
    func readPart(_ file: String, from offset: Int64, count: Int) throws(ExecutionError) -> [UInt8] {
        let descriptor = clinux_open(file, O_RDONLY | O_CLOEXEC, 0)
        guard descriptor >= 0 else {
            if errno == ENOENT { return [] }
            throw failure("open \(file)", errno)
        }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        while bytes.count < count {
            var problem: Int32 = 0
            let wanted = min(count - bytes.count, 1 << 20)
            let part = [UInt8](unsafeUninitializedCapacity: wanted) { buffer, filled in
                let result = pread(descriptor, buffer.baseAddress, wanted, off_t(offset) + bytes.count)
                problem = result < 0 ? errno : 0
                filled = max(0, result)
            }
            guard problem == 0 || problem == EINTR else { throw failure("read \(file)", problem) }
            if part.isEmpty, problem == 0 { break }
            bytes += part
        }
        return bytes
    }

    func failure(_ operation: String, _ number: Int32) -> ExecutionError {
        ExecutionError(.directory, operation, String(cString: strerror(number)))
    }
}
