import Glibc

/// A file system in memory whose size is a limit of the step's: /tmp, and the home.
enum SizedPlace {
    /// Less than this part of the whole is as good as nothing: who writes by blocks leaves a rest.
    private static let rest: UInt64 = 1000

    /// What a place that is full is over, in words; nothing when it has room, or cannot be looked at.
    static func fullWords(of path: String) -> String? {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { return nil }
        let (blocks, files) = (UInt64(status.f_blocks), UInt64(status.f_files))
        if blocks > 0, UInt64(status.f_bavail) < max(1, blocks / rest) {
            let bytes = blocks.multipliedReportingOverflow(by: UInt64(status.f_frsize)).partialValue
            return "\(path) over \(Words.size(Int64(clamping: bytes)))"
        }
        // One that states no number of files has no limit of them.
        if files > 0, UInt64(status.f_ffree) < max(1, files / rest) { return "\(path) over \(files) files" }
        return nil
    }
}
