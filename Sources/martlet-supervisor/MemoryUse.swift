import CLinux
import Glibc
import JobProtocol

/// What processes hold of memory where no control group counts it (proc_pid_status(5), proc_pid_smaps(5)). Files that they map are not in it:
/// the kernel takes those pages back.
struct MemoryUse {
    /// In bytes, what is of one process's own.
    private var own: Int64 = 0
    /// In bytes, what several can have: mapped, and in files of memory.
    private var mapped: Int64 = 0
    private var files: Int64 = 0

    /// What is in files is mostly mapped too, and which is not told: the larger of both counts, so that a job that has as much memory again
    /// mapped that is no file can have twice its limit.
    var bytes: Int64 { own + max(mapped, files) }

    /// From a short text of the kernel's; never less than they hold, and more where they share something: it is counted with each.
    /// - Parameter files: As of `files(of:)`.
    static func atMost(_ processes: [ProcessTable.Entry], files: Int64) -> Int64 {
        processes.reduce(files) { sum, process in
            let use = use(of: process.pid)
            return sum + use.own + use.mapped
        }
    }

    /// What several share counted once. The kernel walks through their pages for it, some milliseconds for a gibibyte.
    /// - Parameter files: As of `files(of:)`.
    static func together(_ processes: [ProcessTable.Entry], files: Int64) -> Int64 {
        processes.reduce(into: MemoryUse(files: files)) { sum, process in
            let rollup = "/proc/\(process.pid)/smaps_rollup"
            var use = use(of: process.pid)
            if let mapped = bytes(of: ["Pss_Shmem:"], in: rollup) {
                // Before Linux 5.9 its pages are not told apart; one that is not dumpable is not shown so closely.
                (use.own, use.mapped) = (bytes(of: ["Pss_Anon:", "SwapPss:"], in: rollup) ?? 0, mapped)
            }
            sum.own += use.own
            sum.mapped += use.mapped
        }.bytes
    }

    /// Files without a name that are memory, of memfd_create(2), mapped or not, each once. A process that is not dumpable shows none.
    static func files(of processes: [ProcessTable.Entry]) -> Int64 {
        // All of them are on one file system, which nobody sees, and which has nothing else without a name in it that is open.
        let one = clinux_memory_file("device")
        defer { close(one) }
        var status = stat()
        guard one >= 0, fstat(one, &status) == 0 else { return 0 }
        var found: [ino_t: Int64] = [:]
        _ = OpenFiles.visit(of: processes) { file in
            if file.st_dev == status.st_dev { found[file.st_ino] = Int64(file.st_blocks) * 512 }
        }
        return found.values.reduce(0, +)
    }

    private static func use(of process: Int32) -> MemoryUse {
        let file = "/proc/\(process)/status"
        return MemoryUse(
            own: bytes(of: ["RssAnon:", "VmSwap:"], in: file) ?? 0, mapped: bytes(of: ["RssShmem:"], in: file) ?? 0)
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
