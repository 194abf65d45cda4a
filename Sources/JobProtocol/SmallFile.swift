import Glibc

/// Reads whole small files by our own paths.
package enum SmallFile {
    /// Nothing when it cannot be opened; at most `limit` bytes.
    package static func read(_ path: String, limit: Int) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        return read(descriptor, limit: limit)
    }

    /// To the end of an open file. It stays open.
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
