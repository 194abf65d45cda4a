import Glibc

/// What `/proc` tells of processes (proc(5)).
package enum ProcessTable {
    /// One line of `/proc/PID/stat`, as far as it is needed.
    package struct Entry: Sendable, Equatable {
        package let pid: Int32
        /// `R`, `S`, `Z` …
        package let state: UInt8
        package let parent: Int32
        package let group: Int32
        /// Field 20.
        package let threads: Int
        /// Field 22, in clock ticks since boot.
        package let startTime: UInt64

        /// False for a zombie: it is dead, only nobody has asked for it yet.
        package var isAlive: Bool { state != UInt8(ascii: "Z") && state != UInt8(ascii: "X") }
    }

    /// Nothing when there is no such process.
    package static func entry(of pid: Int32) -> Entry? {
        guard let bytes = SmallFile.read("/proc/\(pid)/stat", limit: 4096) else { return nil }
        return entry(in: bytes, pid: pid)
    }

    /// The second field is the program's name in parentheses, which can itself hold spaces and parentheses.
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

    /// The direct children of the calling thread, which is all there are in a program of one thread; nothing where the kernel
    /// does not list them.
    package static func children() -> Set<Int32>? {
        guard let bytes = SmallFile.read("/proc/thread-self/children", limit: 1 << 20) else { return nil }
        return Set(bytes.split(separator: 0x20).compactMap { Int32(String(decoding: $0, as: UTF8.self)) })
    }

    /// Every process that this one may see.
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

    /// All processes that descend from one, itself not among them.
    /// - Parameter except: Processes that are left out with all that descend from them.
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
    /// The calling process.
    package static func ofThisProcess() -> LockContent {
        LockContent(
            bootID: currentBootID(), pid: getpid(), startTime: ProcessTable.entry(of: getpid())?.startTime ?? 0)
    }

    /// Whether just this process, not another with its number, is alive.
    package var isAlive: Bool {
        guard bootID == Self.currentBootID(), let entry = ProcessTable.entry(of: pid) else { return false }
        return entry.startTime == startTime && entry.isAlive
    }

    private static func currentBootID() -> String {
        let bytes = SmallFile.read("/proc/sys/kernel/random/boot_id", limit: 64) ?? []
        return String(decoding: bytes.filter { $0 > 0x20 }, as: UTF8.self)
    }
}
