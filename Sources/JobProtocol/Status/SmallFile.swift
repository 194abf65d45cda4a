import Glibc

/// Reads of whole small files at paths that are not a job's.
package enum SmallFile {
    /// Reads at most `limit` bytes of a file.
    /// - Returns: `nil` if the file cannot be opened or read.
    package static func read(_ path: String, limit: Int) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        return read(descriptor, limit: limit)
    }

    /// Reads an open file to its end, but at most `limit` bytes. The file stays open.
    /// - Returns: `nil` if it cannot be read.
    package static func read(_ descriptor: Int32, limit: Int) -> [UInt8]? {
        var bytes: [UInt8] = []
        while bytes.count < limit {
            var number: Int32 = 0
            let wanted = min(limit - bytes.count, 64 * 1024)
            let part = [UInt8](unsafeUninitializedCapacity: wanted) { buffer, filled in
                let result = Glibc.read(descriptor, buffer.baseAddress, wanted)
                number = result < 0 ? errno : 0
                filled = max(0, result)
            }
            if number == EINTR { continue }
            guard number == 0 else { return nil }
            if part.isEmpty { break }
            bytes += part
        }
        return bytes
    }
}
