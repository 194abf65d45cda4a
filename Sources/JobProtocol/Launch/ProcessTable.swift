import Glibc

/// The processes in `/proc` (proc(5)).
package enum ProcessTable {
    /// The used fields of one line of `/proc/PID/stat`.
    package struct Entry: Sendable, Equatable {
        package let pid: Int32
        /// The state: `R`, `S`, `Z` …
        package let state: UInt8
        package let parent: Int32
        package let group: Int32
        /// The number of threads (field 20).
        package let threads: Int
        /// The start time in clock ticks since boot (field 22).
        package let startTime: UInt64

        /// Whether the process is alive. A zombie has ended and is only waiting to be reaped.
        package var isAlive: Bool { state != UInt8(ascii: "Z") && state != UInt8(ascii: "X") }
    }

    /// Returns the entry of a process; `nil` if it does not exist.
    package static func entry(of pid: Int32) -> Entry? {
        guard let bytes = SmallFile.read("/proc/\(pid)/stat", limit: 4096) else { return nil }
        return entry(in: bytes, pid: pid)
    }

    /// Parses a line. The second field is the program's name in parentheses, which may itself contain spaces and parentheses.
    static func entry(in bytes: [UInt8], pid: Int32) -> Entry? {
        guard let end = bytes.lastIndex(of: UInt8(ascii: ")")) else { return nil }
        let fields = bytes[(end + 1)...].split { $0 == 0x20 || $0 == 0x0A }
        func number<T: FixedWidthInteger>(_ field: Int) -> T? {
            fields.count > field - 3 ? T(String(decoding: fields[field - 3], as: UTF8.self)) : nil
        }
        guard let state = fields.first?.first, let parent: Int32 = number(4), let group: Int32 = number(5),
            let threads: Int = number(20), let startTime: UInt64 = number(22)
        else { return nil }
        return Entry(pid: pid, state: state, parent: parent, group: group, threads: threads, startTime: startTime)
    }

    /// Returns the direct children of the calling thread, which in a program with one thread are all children. `nil` if the kernel does not list
    /// them.
    package static func children() -> Set<Int32>? {
        guard let bytes = SmallFile.read("/proc/thread-self/children", limit: 1 << 20) else { return nil }
        return Set(bytes.split(separator: 0x20).compactMap { Int32(String(decoding: $0, as: UTF8.self)) })
    }

    /// Returns every process that this process may see.
    package static func all() -> [Entry] {
        guard let stream = opendir("/proc") else { return [] }
        defer { closedir(stream) }
        var entries: [Entry] = []
        while let next = readdir(stream) {
            let name = withUnsafePointer(to: &next.pointee.d_name) { tuple in
                tuple.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if let pid = Int32(name), let entry = entry(of: pid) { entries.append(entry) }
        }
        return entries
    }

    /// Returns all descendants of a process.
    /// - Parameters:
    ///   - root: The process, which is not included.
    ///   - except: Processes that are left out with their descendants.
    package static func descendants(of root: Int32, except: Set<Int32> = []) -> [Entry] {
        let byParent = Dictionary(grouping: all().filter { !except.contains($0.pid) }, by: \.parent)
        var found = byParent[root] ?? []
        var position = 0
        while position < found.count {
            found += byParent[found[position].pid] ?? []
            position += 1
        }
        return found
    }
}

extension LockContent {
    /// Returns the content for the calling process.
    package static func ofThisProcess() -> LockContent {
        LockContent(
            bootID: currentBootID(), pid: getpid(), startTime: ProcessTable.entry(of: getpid())?.startTime ?? 0,
            host: currentHost())
    }

    /// Whether exactly this process is alive, rather than another one with its number.
    package var isAlive: Bool {
        guard isOfThisBoot, let entry = ProcessTable.entry(of: pid) else { return false }
        return entry.startTime == startTime && entry.isAlive
    }

    /// Whether the process was started on this machine since its last boot. Only then `/proc` and the lock state whether it lives.
    package var isOfThisBoot: Bool { bootID == Self.currentBootID() }

    private static func currentBootID() -> String {
        let bytes = SmallFile.read("/proc/sys/kernel/random/boot_id", limit: 64) ?? []
        return String(decoding: bytes.filter { $0 > 0x20 }, as: UTF8.self)
    }

    /// Returns the name of this node: the one that Slurm uses (`SLURMD_NODENAME`, sbatch(1)), or the machine's own.
    package static func currentHost() -> String? {
        if let node = getenv("SLURMD_NODENAME") {
            let name = String(cString: node)
            if isHost(name) { return name }
        }
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, name.count - 1) == 0 else { return nil }
        let host = String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        return isHost(host) ? host : nil
    }

    /// Whether a text can be a host's name: at most 253 printable characters of ASCII (RFC 1123, section 2.1).
    private static func isHost(_ text: String) -> Bool {
        (1...253).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }
}

/// The content of `lock`: the process that holds it. A process identifier may be reused, so the boot and the start time
/// are included.
package struct LockContent: Sendable, Equatable {
    /// The content of `/proc/sys/kernel/random/boot_id`.
    package let bootID: String
    package let pid: Int32
    /// The start time in clock ticks since boot: field 22 of `/proc/PID/stat` (proc(5)).
    package let startTime: UInt64
    /// The name of the machine or node, for messages; `nil` if it has none, and in files of earlier versions.
    package let host: String?

    package init(bootID: String, pid: Int32, startTime: UInt64, host: String? = nil) {
        self.bootID = bootID
        self.pid = pid
        self.startTime = startTime
        self.host = host
    }

    /// Parses the content of `lock`.
    /// - Returns: `nil` for other texts, such as the empty file of a supervisor that has just locked it.
    package init?(_ text: String) {
        let words = text.split(whereSeparator: { $0 == " " || $0 == "\n" })
        guard (3...4).contains(words.count), let pid = Int32(words[1]), pid > 1, let start = UInt64(words[2]) else {
            return nil
        }
        self.init(
            bootID: String(words[0]), pid: pid, startTime: start, host: words.count == 4 ? String(words[3]) : nil)
    }

    package var text: String { "\(bootID) \(pid) \(startTime)" + (host.map { " \($0)" } ?? "") + "\n" }
}
