import Glibc

/// The file `crashes`. Its first line is the version that trapped. Each further line is a count and a suspect: `2 look
/// https://…`.
struct CrashCounts: Sendable {
    let path: String
    let version: String

    /// Reads the number of traps of each suspect.
    /// - Returns: An empty dictionary if the file does not exist, or another version or program wrote it.
    /// - Throws: `FileError` if the file exists and cannot be read.
    func read() throws(FileError) -> [String: Int] {
        let bytes: [UInt8]
        do throws(FileError) {
            bytes = try WholeFile.read(path, limit: 1 << 20)
        } catch {
            if error.errno == ENOENT { return [:] }
            throw error
        }
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
        guard lines.first == version[...] else { return [:] }
        var counts: [String: Int] = [:]
        for line in lines.dropFirst() {
            let parts = line.split(separator: " ", maxSplits: 1)
            if parts.count == 2, let count = Int(parts[0]) { counts[String(parts[1])] = count }
        }
        return counts
    }

    func write(_ counts: [String: Int]) throws(FileError) {
        guard !counts.isEmpty else {
            if unlink(path) != 0, errno != ENOENT { throw FileError(operation: "remove", path: path, errno: errno) }
            return
        }
        let lines = counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)\n" }
        try AtomicFile.write(Array((version + "\n" + lines.joined()).utf8), to: path, mode: 0o600)
    }
}
