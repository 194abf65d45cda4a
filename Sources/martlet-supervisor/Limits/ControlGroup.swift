import CLinux
import Glibc
import JobProtocol

/// The control group of one job. It limits what the processes of its steps use together, and counts what they were refused.
///
/// It is one directory in version 2, and one for each controller in version 1. It is named after the supervisor, so that the launcher finds the
/// groups of killed supervisors.
final class ControlGroup {
    /// The processes of the sandbox itself: bubblewrap and the sandbox's first process.
    static let ownProcesses = 2
    /// How long to wait until a group is empty. Its processes are dead; the kernel only has to update the group.
    private static let removalMilliseconds: Int64 = 5000

    /// What happened in a group since it was created.
    struct Events: Equatable {
        /// The number of processes that were killed because the group or the machine had no memory left.
        var memoryKills: Int64 = 0
        /// How often the group reached its own memory limit. If it did not, the machine ran out of memory.
        var memoryLimits: Int64 = 0
        /// The number of forks that failed.
        var refusedForks: Int64 = 0
    }

    /// The directory for each controller. In version 2 all are the same.
    private var directories: [ControlGroupPlace.Controller: String] = [:]
    private let place: ControlGroupPlace
    private var isVersion2: Bool { place.isVersion2 }
    private var processes: Int64?
    private var memory: Int64?
    private var isClosed = false
    private var isRemoved = false
    /// The open files in which a process writes `0` to enter the group. In version 1 the file is `tasks`, which moves one thread. The kernel then
    /// need not suspend all other processes to find further threads, which takes about 15 ms on an idle machine (Linux 5.5).
    private(set) var entrances: [Int32] = []
    /// The events at the group's creation, so that they need not be read before the first step.
    private var atFirst: Events?
    /// The open directory; only in version 2, where a process can be created directly in its group.
    private(set) var birthplace: Int32?

    /// Creates a group without limits. Returns `nil` if the machine does not allow it.
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
        // The same directory as that of the other controllers.
        if place.isVersion2 { _ = make([.cpu]) }
    }

    /// Creates the group for some controllers.
    /// - Returns: Whether the group, with an entrance, exists for each of them that this machine has.
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

    /// Reads the events for the first step in advance, while no caller waits. The group is still empty.
    func lookBeforehand() { atFirst = events() }

    /// Returns the events before a step that begins.
    func eventsBefore() -> Events {
        defer { atFirst = nil }
        return atFirst ?? events()
    }

    /// Sets a job's limits. In version 1 the processor weight needs another group. It is entered only if there is a weight, because that takes 4 ms.
    /// - Returns: Whether all limits were set.
    func limit(_ limits: JobDescription.Limits) -> Bool {
        if limits.cpuWeight != nil, !isVersion2 { _ = make([.cpu]) }
        var isSet = directories[.memory] != nil && directories[.pids] != nil
        if let memory = limits.memoryBytes, directories[.memory] != nil {
            self.memory = memory
            isSet = write(.memory, isVersion2 ? "memory.max" : "memory.limit_in_bytes", memory) && isSet
            // The file does not exist without swap, and then no limit is necessary.
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
            // The default weights correspond: 100 in version 2, 1024 in version 1.
            if !isVersion2, let weight = limits.cpuWeight {
                _ = write(.cpu, "cpu.shares", Int64(max(2, weight * 1024 / 100)))
            }
        }
        return isSet
    }

    func events() -> Events {
        // Version 1 does not count how often the limit was reached (memory.failcnt stays 0 on Linux 6.18). Instead, the highest use since the last
        // check is compared with the limit. The highest use since the beginning would not do: it includes the page cache, which the kernel can
        // reclaim. It is reset only after it reached the limit. Otherwise a kill between reading and resetting could lose its only indication.
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

    /// The highest memory use in bytes, in version 1; 0 if it cannot be read.
    private var mostMemory: Int64 {
        guard let directory = directories[.memory],
            let bytes = SmallFile.read(directory + "/memory.max_usage_in_bytes", limit: 64)
        else { return 0 }
        return Int64(String(decoding: bytes.prefix { $0 > 0x20 }, as: UTF8.self)) ?? 0
    }

    /// Whether a memory use has reached the limit, within the 32 pages that the kernel reserves at a time.
    private func isLimit(_ most: Int64) -> Bool { memory.map { most >= $0 - 128 * 1024 } ?? false }

    /// Kills all processes at once if the kernel supports it. Otherwise it forbids forks, so that the caller can kill the processes one by one.
    func killAll() {
        if !write(.memory, "cgroup.kill", 1) {
            _ = write(.pids, "pids.max", 0)
            isClosed = true
        }
    }

    /// Allows forks again for the next step, after `killAll`.
    func open() {
        guard isClosed, let processes else { return }
        _ = write(.pids, "pids.max", processes)
        isClosed = false
    }

    /// Removes the group.
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
