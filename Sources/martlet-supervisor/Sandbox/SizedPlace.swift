import Glibc

/// A file system in memory whose size is a limit of the step: `/tmp` and the home directory.
enum SizedPlace {
    /// A file system counts as full if less than a thousandth of it is free, because programs that write in blocks leave a rest.
    private static let rest: UInt64 = 1000

    /// Returns the limit that a full file system has reached, in words; `nil` if it has room, or cannot be examined.
    static func fullWords(of path: String) -> String? {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { return nil }
        let (blocks, files) = (UInt64(status.f_blocks), UInt64(status.f_files))
        if blocks > 0, UInt64(status.f_bavail) < max(1, blocks / rest) {
            let bytes = blocks.multipliedReportingOverflow(by: UInt64(status.f_frsize)).partialValue
            return "\(path) over \(Words.size(Int64(clamping: bytes)))"
        }
        // A file system that reports no number of files does not limit them.
        if files > 0, UInt64(status.f_ffree) < max(1, files / rest) { return "\(path) over \(files) files" }
        return nil
    }
}
