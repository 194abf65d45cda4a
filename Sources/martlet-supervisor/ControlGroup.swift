import CLinux
import Glibc
import JobProtocol

/// The control group of one job: what its steps' processes may use together, and what they were refused.
///
/// One directory of version 2, or one for each controller of version 1. It is named after the supervisor, so that the
/// launcher finds what one that was killed left.
final class ControlGroup {
    /// Bubblewrap and the fence's first process.
    static let ownProcesses = 2
    /// How long a group is waited for to be empty. Its processes are gone; the kernel only has to notice.
    private static let removalMilliseconds: Int64 = 5000

    /// What happened in a group since it was made.
    struct Events: Equatable {
        /// Processes that were killed for want of memory, the group's or the machine's.
        var memoryKills: Int64 = 0
        /// How often the group's own limit of memory was reached: without, it was the machine that had none left.
        var memoryLimits: Int64 = 0
        /// Forks that failed.
        var refusedForks: Int64 = 0
    }

    /// By controller; of version 2 all are the same.
    private var directories: [ControlGroupPlace.Controller: String] = [:]
    private let place: ControlGroupPlace
    private var isVersion2: Bool { place.isVersion2 }
    private var processes: Int64?
    private var memory: Int64?
    private var isClosed = false
    private var isRemoved = false
    /// What a process writes `0` to in order to move itself here, open. In version 1 that is `tasks`, which moves one thread: the kernel
    /// then does not hold up all others to find the process's further threads, which takes some 15 ms on an idle machine (Linux 5.5).
    private(set) var entrances: [Int32] = []
    /// What had happened in it when it was made, which nobody has to look up before the first step.
    private var atFirst: Events?
    /// The directory, open; of version 2 alone, in which a process can be made where it is to be.
    private(set) var birthplace: Int32?

    /// One without limits yet. Nothing where this machine lets us make none.
    init?(place: ControlGroupPlace) {
        self.place = place
        guard make([.memory, .pids]) else {
            remove()
            return nil
        }
        let opened =
            place.isVersion2
            ? directories[.memory].map { clinux_open($0, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0) } : nil
        birthplace = opened.flatMap { $0 > 0 ? $0 : nil }
        // The same directory.
        if place.isVersion2 { _ = make([.cpu]) }
    }

    /// - Returns: Whether each of them that this machine has is there, with an entrance.
    private func make(_ controllers: [ControlGroupPlace.Controller]) -> Bool {
        let name = ControlGroupPlace.name(of: LockContent.ofThisProcess())
        for controller in controllers {
            guard let parent = place.directories[controller] else { continue }
            let directory = parent + "/" + name
            // Controllers can share one.
            guard !directories.values.contains(directory) else {
                directories[controller] = directory
                continue
            }
            guard mkdir(directory, 0o755) == 0 || errno == EEXIST else { return false }
            directories[controller] = directory
            let entrance = clinux_open(
                directory + (isVersion2 ? "/cgroup.procs" : "/tasks"), O_WRONLY | O_CLOEXEC, 0)
            guard entrance >= 0 else { return false }
            entrances.append(entrance)
        }
        return true
    }

    /// Looks up, while nobody waits for it, what the first step will ask: nothing of a job's is in it yet.
    func lookBeforehand() { atFirst = events() }

    /// What had happened before a step that begins.
    func eventsBefore() -> Events {
        defer { atFirst = nil }
        return atFirst ?? events()
    }

    /// Sets a job's limits. In version 1 the processors are another group, which is entered only where a weight is asked for: that takes 4 ms.
    /// - Returns: Whether all of them hold.
    func limit(_ limits: JobDescription.Limits) -> Bool {
        if limits.cpuWeight != nil, !isVersion2 { _ = make([.cpu]) }
        var isSet = directories[.memory] != nil && directories[.pids] != nil
        if let memory = limits.memoryBytes, directories[.memory] != nil {
            self.memory = memory
            isSet = write(.memory, isVersion2 ? "memory.max" : "memory.limit_in_bytes", memory) && isSet
            // Not there without swap; a job that has none to use needs no limit of it.
            _ =
                isVersion2
                ? write(.memory, "memory.swap.max", 0) : write(.memory, "memory.memsw.limit_in_bytes", memory)
        }
        if isVersion2 { _ = write(.memory, "memory.oom.group", 1) }
        if directories[.pids] != nil {
            let processes = Int64(limits.processes + Self.ownProcesses)
            self.processes = processes
            isSet = write(.pids, "pids.max", processes) && isSet
        }
        if directories[.cpu] != nil {
            if isVersion2, let weight = place.weight(limits.cpuWeight) { _ = write(.cpu, "cpu.weight", weight) }
            // 100 of one are 1024 of the other: what a group has without being asked.
            if !isVersion2, let weight = limits.cpuWeight {
                _ = write(.cpu, "cpu.shares", Int64(max(2, weight * 1024 / 100)))
            }
        }
        return isSet
    }

    func events() -> Events {
        // Version 1 does not count how often the limit was reached (memory.failcnt stays 0 on Linux 6.18): what it had at most since it was
        // asked last has to tell. Not since its beginning: files that were read, of which the kernel lets go, are counted with the rest.
        // What was less than the limit is kept: a kill between the two, of which only this tells, would be forgotten with it.
        var most: Int64 = 0
        if !isVersion2, memory != nil {
            most = mostMemory
            if isLimit(most) { _ = write(.memory, "memory.max_usage_in_bytes", 0) }
        }
        let kills = count("oom_kill", in: .memory, isVersion2 ? "memory.events" : "memory.oom_control")
        return Events(
            memoryKills: kills,
            memoryLimits: isVersion2
                ? count("oom", in: .memory, "memory.events") : isLimit(max(most, mostMemory)) ? kills : 0,
            refusedForks: count("max", in: .pids, "pids.events"))
    }

    /// Of version 1, in bytes; 0 where it cannot be read.
    private var mostMemory: Int64 {
        guard let directory = directories[.memory],
            let bytes = SmallFile.read(directory + "/memory.max_usage_in_bytes", limit: 64)
        else { return 0 }
        return Int64(String(decoding: bytes.prefix { $0 > 0x20 }, as: UTF8.self)) ?? 0
    }

    /// But for what the kernel takes at a time: 32 pages.
    private func isLimit(_ most: Int64) -> Bool { memory.map { most >= $0 - 128 * 1024 } ?? false }

    /// At once where the kernel can, else so that no process can make another while they are killed one by one.
    func killAll() {
        if !write(.memory, "cgroup.kill", 1) {
            _ = write(.pids, "pids.max", 0)
            isClosed = true
        }
    }

    /// For the next step, after `killAll`.
    func open() {
        guard isClosed, let processes else { return }
        _ = write(.pids, "pids.max", processes)
        isClosed = false
    }

    /// - Returns: Whether it is gone.
    @discardableResult func remove() -> Bool {
        guard !isRemoved else { return true }
        isRemoved = true
        for descriptor in entrances + (birthplace.map { [$0] } ?? []) { close(descriptor) }
        var isGone = true
        for directory in Set(directories.values) {
            isGone = ControlGroupPlace.remove(directory, within: Self.removalMilliseconds) && isGone
        }
        return isGone
    }

    private func count(_ key: String, in controller: ControlGroupPlace.Controller, _ file: String) -> Int64 {
        guard let directory = directories[controller],
            let bytes = SmallFile.read(directory + "/" + file, limit: 4096)
        else { return 0 }
        for line in bytes.split(separator: 0x0A) {
            let words = line.split(separator: 0x20)
            if words.count == 2, words[0].elementsEqual(key.utf8) {
                return Int64(String(decoding: words[1], as: UTF8.self)) ?? 0
            }
        }
        return 0
    }

    private func write(_ controller: ControlGroupPlace.Controller, _ file: String, _ value: Int64) -> Bool {
        guard let directory = directories[controller] else { return false }
        return ControlGroupPlace.write("\(value)", to: directory + "/" + file)
    }
}
