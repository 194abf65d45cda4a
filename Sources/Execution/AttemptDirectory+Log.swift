import CLinux
import Glibc
package import JobProtocol

extension AttemptDirectory {
    /// The most bytes that one call of `readLog` returns.
    package static let logReadLimit = 4 << 20

    /// The log's bytes so far; 0 when there is none.
    package var logSize: Int64 {
        // Unreadable: the same as empty for who wants to know how far it came.
        (try? AttemptLog.open(in: path))??.size ?? 0
    }

    /// Part of the log, as far as it is there: fewer bytes than asked for, or none, near its end.
    /// - Parameter count: At most `logReadLimit` are returned.
    /// - Throws: `.directory`; `.malformed` for a compressed log that is damaged. A log that is not there yet is empty.
    package func readLog(from offset: Int64, count: Int) throws(ExecutionError) -> [UInt8] {
        try AttemptLog.open(in: path)?.read(at: offset, count: min(count, Self.logReadLimit)) ?? []
    }

    /// The index's records, from the `first`th on. A record that is being written is left out.
    /// - Parameter limit: The most records; by default the index of a whole log of 64 MiB printed in lines of 512 bytes.
    /// - Throws: `.directory`.
    package func readIndex(from first: Int = 0, limit: Int = 128 * 1024) throws(ExecutionError) -> [LogIndexRecord] {
        let size = LogIndexRecord.size
        let bytes = try readPart(paths.logIndex, from: Int64(first * size), count: limit * size)
        return (0..<bytes.count / size).compactMap { LogIndexRecord(bytes[$0 * size..<($0 + 1) * size]) }
    }

    /// At most `count` bytes of a file from `offset` on; none when it is not there.
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
