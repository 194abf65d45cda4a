import Glibc
import JobProtocol

/// What processes hold of memory where no control group counts it (proc_pid_status(5), proc_pid_smaps(5)). Files that they map are not in it:
/// the kernel takes those pages back.
enum MemoryUse {
    /// In bytes, from a short text of the kernel's; never less than they hold, and more where they share something: it is counted with each.
    static func atMost(_ processes: [ProcessTable.Entry]) -> Int64 {
        processes.reduce(0) { $0 + atMost($1.pid) }
    }

    /// In bytes, what several share counted once. The kernel walks through their pages for it, some milliseconds for a gibibyte.
    static func together(_ processes: [ProcessTable.Entry]) -> Int64 {
        processes.reduce(0) { sum, process in
            let found = bytes(of: ["Pss_Anon:", "Pss_Shmem:", "SwapPss:"], in: "/proc/\(process.pid)/smaps_rollup")
            // Before Linux 5.9 its pages are not told apart; one that is not dumpable is not shown so closely.
            return sum + (found ?? atMost(process.pid))
        }
    }

    private static func atMost(_ process: Int32) -> Int64 {
        bytes(of: ["RssAnon:", "RssShmem:", "VmSwap:"], in: "/proc/\(process)/status") ?? 0
    }

    /// The sum of lines such as `RssAnon:	    1234 kB`; nothing when there is none.
    private static func bytes(of names: [String], in file: String) -> Int64? {
        guard let text = SmallFile.read(file, limit: 16 * 1024) else { return nil }
        var sum: Int64?
        for line in text.split(separator: 0x0A) {
            let words = line.split { $0 == 0x20 || $0 == 0x09 }
            guard words.count == 3, names.contains(where: { words[0].elementsEqual($0.utf8) }) else { continue }
            sum = (sum ?? 0) + (Int64(String(decoding: words[1], as: UTF8.self)) ?? 0) * 1024
        }
        return sum
    }
}
