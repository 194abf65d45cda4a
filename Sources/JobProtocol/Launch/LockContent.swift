/// The content of `lock`: the process that holds it. A process identifier may be reused, so the boot and the start time
/// are included.
package struct LockContent: Sendable, Equatable {
    /// The content of `/proc/sys/kernel/random/boot_id`.
    package let bootID: String
    package let pid: Int32
    /// The start time in clock ticks since boot: field 22 of `/proc/PID/stat` (proc(5)).
    package let startTime: UInt64

    package init(bootID: String, pid: Int32, startTime: UInt64) {
        self.bootID = bootID
        self.pid = pid
        self.startTime = startTime
    }

    /// Parses the content of `lock`.
    /// - Returns: `nil` for other texts, such as the empty file of a supervisor that has just locked it.
    package init?(_ text: String) {
        let words = text.split(whereSeparator: { $0 == " " || $0 == "\n" })
        guard words.count == 3, let pid = Int32(words[1]), pid > 1, let start = UInt64(words[2]) else { return nil }
        self.init(bootID: String(words[0]), pid: pid, startTime: start)
    }

    package var text: String { "\(bootID) \(pid) \(startTime)\n" }
}
