import CLinux
import Glibc
import JobProtocol

/// The memory use of processes if no control group counts it (proc_pid_status(5), proc_pid_smaps(5)). Mapped files are left out, because the kernel
/// can reclaim their pages.
struct MemoryUse {
    /// The memory that belongs to one process, in bytes.
    private var own: Int64 = 0
    /// The memory that several processes can share, in bytes: mapped memory, and files in memory.
    private var mapped: Int64 = 0
    private var files: Int64 = 0

    /// The sum. Files in memory are usually mapped too, and the kernel does not report which. The larger of both counts is used. A job with as much
    /// other shared memory mapped could therefore use twice its limit.
    var bytes: Int64 { own + max(mapped, files) }

    /// Returns an upper bound from short files of /proc. Memory that processes share counts for each of them.
    /// - Parameter files: The result of `files(of:)`.
    static func atMost(_ processes: [ProcessTable.Entry], files: Int64) -> Int64 {
        processes.reduce(files) { sum, process in
            let use = use(of: process.pid)
            return sum + use.own + use.mapped
        }
    }

    /// Returns the memory use with shared memory counted once. For this the kernel walks through the processes' pages, which takes some milliseconds
    /// for a GiB.
    /// - Parameter files: The result of `files(of:)`.
    static func together(_ processes: [ProcessTable.Entry], files: Int64) -> Int64 {
        processes.reduce(into: MemoryUse(files: files)) { sum, process in
            let rollup = "/proc/\(process.pid)/smaps_rollup"
            var use = use(of: process.pid)
            if let mapped = bytes(of: ["Pss_Shmem:"], in: rollup) {
                // Before Linux 5.9 the kinds of pages are not distinguished. A process that is not dumpable hides them.
                (use.own, use.mapped) = (bytes(of: ["Pss_Anon:", "SwapPss:"], in: rollup) ?? 0, mapped)
            }
            sum.own += use.own
            sum.mapped += use.mapped
        }.bytes
    }

    /// Returns the size of unnamed files in memory (memfd_create(2)), mapped or not, each counted once. A process that is not dumpable hides its
    /// files.
    static func files(of processes: [ProcessTable.Entry]) -> Int64 {
        // All of them are on one hidden file system, on which no other unnamed files are open.
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

    /// Returns the sum of lines such as `RssAnon:          1234 kB` in bytes; `nil` if there is none.
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
