import Basics
import Glibc

/// Measures the processor time of processes by /proc.
enum ProcessEffort {
    /// Returns the clock ticks (hundredths of a second) that all living processes of some sessions have used in user and system mode: fields 14 and
    /// 15 of /proc/PID/stat (proc(5)).
    static func ticks(ofSessions sessions: Set<pid_t>) -> UInt64 {
        guard let directory = opendir("/proc") else { return 0 }
        defer { closedir(directory) }
        var sum: UInt64 = 0
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            // A process that exited meanwhile does not count.
            guard Int(name) != nil, let bytes = try? WholeFile.read("/proc/\(name)/stat", limit: 4096) else { continue }
            // The name in parentheses may contain any character. The fields after it are numbers.
            let text = String(decoding: bytes, as: UTF8.self)
            guard let end = text.lastIndex(of: ")") else { continue }
            let fields = text[text.index(after: end)...].split(separator: " ")
            guard fields.count > 12, let session = pid_t(fields[3]), sessions.contains(session) else { continue }
            sum += (UInt64(fields[11]) ?? 0) + (UInt64(fields[12]) ?? 0)
        }
        return sum
    }
}
