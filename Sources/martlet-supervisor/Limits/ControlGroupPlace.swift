import CLinux
import Glibc
import JobProtocol
import Processes

/// The directories in which jobs' control groups are created: below the launcher's own group, which systemd delegates to it, or below the root group.
struct ControlGroupPlace {
    enum Controller: String, CaseIterable { case memory, pids, cpu }

    /// The prefix of a job's group. The supervisor's process number, its start time, and the process namespace of both follow.
    private static let prefix = "martlet-job-"
    /// The group of the launcher and the supervisors. In version 2 a group that limits its children has no processes of its own (cgroup-v2, "No
    /// Internal Process Constraint").
    private static let launcherName = "martlet-launcher"

    let isVersion2: Bool
    /// Whether jobs' groups are siblings of processes that are in no group of their own.
    private(set) var isBesideProcesses = false
    let directories: [Controller: String]

    var means: SandboxFinding.Means { isVersion2 ? .cgroup2 : .cgroup1 }

    /// Finds the place on this machine; `nil` if memory and processes cannot be limited.
    static func find() -> ControlGroupPlace? { version2() ?? version1() }

    static func name(of supervisor: LockContent) -> String {
        "\(prefix)\(supervisor.pid)-\(supervisor.startTime)-\(namespace)"
    }

    /// The process namespace of this process (namespaces(7)). A launcher in a container can share a control group with other launchers whose
    /// supervisors it cannot see. The namespace in a group's name identifies the launcher that it belongs to.
    private static let namespace: UInt64 = {
        var status = stat()
        return stat("/proc/self/ns/pid", &status) == 0 ? UInt64(status.st_ino) : 0
    }()

    /// Returns whether a group's supervisor is gone; false for a supervisor that may be in another process namespace.
    private static func isAbandoned(_ group: String) -> Bool {
        guard group.hasPrefix(prefix) else { return false }
        let numbers = group.dropFirst(prefix.count).split(separator: "-").compactMap { UInt64($0) }
        // A name without a namespace is from an earlier version.
        guard numbers.count == 2 || numbers.count == 3 && numbers[2] == namespace, let pid = Int32(exactly: numbers[0])
        else { return false }
        guard let entry = ProcessTable.entry(of: pid) else {
            // It may still exist: if /proc is mounted with hidepid, a supervisor is hidden even from its own user (proc(5)).
            let descriptor = clinux_pidfd_open(pid, 0)
            if descriptor >= 0 { close(descriptor) }
            return descriptor < 0
        }
        return entry.startTime != numbers[1] || !entry.isAlive
    }

    /// Prepares the launcher's control group; the launcher calls it once. In the group from systemd it creates one for itself, and enables the
    /// controllers for jobs' groups.
    static func prepare() {
        guard let own = ownDirectory2(), own.path != "/" else { return }
        // systemd 254 and newer, with DelegateSubgroup=, has already put the launcher there.
        if let parent = parent(of: own.directory) { return enable(in: parent) }
        // Other processes are in the group, so it does not belong to the launcher.
        guard processes(in: own.directory) == [getpid()] else { return }
        let leaf = own.directory + "/" + launcherName
        guard mkdir(leaf, 0o755) == 0 || errno == EEXIST, write("0", to: leaf + "/cgroup.procs") else { return }
        enable(in: own.directory)
    }

    /// The common group of all jobs, in version 1 only. In version 2 the unit's `CPUWeight=` determines their share.
    private static let commonName = "martlet-jobs"

    /// The weight of the jobs' group compared with the processes in the launcher's own group. On each processor it has the weight of one process with
    /// the niceness of jobs (decision 0056).
    ///
    /// The kernel divides a group's weight among the processors on which it runs, while each process beside it has its whole weight on its own
    /// processor. A fixed weight would leave jobs a share that shrinks with the number of processors.
    private static var shares: Int64 {
        min(SupervisorPool.weight * Int64(clinux_processor_count()), maximumShares)
    }
    /// The kernel's maximum (`MAX_SHARES` of kernel/sched/sched.h).
    private static let maximumShares: Int64 = 1 << 18

    /// Returns the `cpu.weight` of a job's group in version 2; `nil` for the default of 100.
    ///
    /// In the root group, jobs' groups compete with processes that are in no group, as described at `shares`.
    func weight(_ requested: Int?) -> Int64? {
        guard isBesideProcesses else { return requested.map(Int64.init) }
        return max(1, min(Int64(requested ?? 100) * Self.shares / 1024, 10_000))
    }

    /// In version 1, moves the launcher into the common group of jobs. The launcher calls it once. All that it starts then gets less of the
    /// processors than the daemon, and a fair share compared with the machine's other work. The group remains for the next launcher.
    static func yieldProcessors() {
        guard let own = Membership.all().first(where: { $0.controllers.contains(Controller.cpu.rawValue) }),
            !own.path.hasSuffix("/" + commonName),
            let above = Mount.directory(of: own.path, type: "cgroup", option: Controller.cpu.rawValue)
        else { return }
        let directory = above + "/" + commonName
        guard mkdir(directory, 0o755) == 0 || errno == EEXIST else { return }
        _ = write("\(shares)", to: directory + "/cpu.shares") && write("0", to: directory + "/tasks")
    }

    /// Returns the parent of the launcher's own group; `nil` for another group.
    private static func parent(of directory: String) -> String? {
        directory.hasSuffix("/" + launcherName) ? String(directory.dropLast(launcherName.count + 1)) : nil
    }

    /// Removes the groups of supervisors that are gone, and kills the processes that remain in them.
    func removeAbandoned() {
        for directory in Set(directories.values) {
            for name in Tree.names(in: directory) where Self.isAbandoned(name) {
                Self.remove(directory + "/" + name, within: 1000)
            }
        }
    }

    private static func version2() -> ControlGroupPlace? {
        guard let own = ownDirectory2() else { return nil }
        let directory: String
        if let parent = parent(of: own.directory) {
            directory = parent
        } else if own.path == "/" {
            // The root group may have processes beside its groups.
            directory = own.directory
            enable(in: directory)
        } else {
            return nil
        }
        let enabled = words(directory + "/cgroup.subtree_control")
        guard enabled.contains("memory"), enabled.contains("pids"), access(directory, W_OK) == 0 else { return nil }
        let controllers = Controller.allCases.filter { enabled.contains($0.rawValue) }
        return ControlGroupPlace(
            isVersion2: true, isBesideProcesses: own.path == "/",
            directories: Dictionary(controllers.map { ($0, directory) }) { $1 })
    }

    private static func version1() -> ControlGroupPlace? {
        var found: [Controller: String] = [:]
        for controller in Controller.allCases {
            guard let own = Membership.all().first(where: { $0.controllers.contains(controller.rawValue) }),
                let directory = Mount.directory(of: own.path, type: "cgroup", option: controller.rawValue),
                access(directory, W_OK) == 0
            else { continue }
            found[controller] = directory
        }
        guard found[.memory] != nil, found[.pids] != nil else { return nil }
        return ControlGroupPlace(isVersion2: false, directories: found)
    }

    private static func ownDirectory2() -> (path: String, directory: String)? {
        guard let own = Membership.all().first(where: { $0.controllers == [""] }),
            let directory = Mount.directory(of: own.path, type: "cgroup2", option: nil)
        else { return nil }
        return (own.path, directory)
    }

    private static func enable(in directory: String) {
        // One by one, so that a missing controller does not affect the others.
        for controller in Controller.allCases {
            _ = write("+\(controller.rawValue)", to: directory + "/cgroup.subtree_control")
        }
    }

    /// Returns the processes in a group. Those of other process namespaces are listed as 0 and left out: 0 would mean the caller's own process group
    /// (kill(2)).
    static func processes(in directory: String) -> [Int32] {
        words(directory + "/cgroup.procs").compactMap { Int32($0) }.filter { $0 > 0 }
    }

    private static func words(_ path: String) -> [String] {
        (SmallFile.read(path, limit: 1 << 20) ?? []).split { $0 <= 0x20 }.map { String(decoding: $0, as: UTF8.self) }
    }

    static func write(_ text: String, to path: String) -> Bool {
        let descriptor = clinux_open(path, O_WRONLY | O_CLOEXEC, 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return Descriptor.writeAll(Array(text.utf8), to: descriptor) == 0
    }

    /// Kills all processes in a group and its subgroups, and removes it.
    /// - Returns: Whether it was removed within the time.
    @discardableResult static func remove(_ directory: String, within milliseconds: Int64) -> Bool {
        let deadline = Time.monotonicMilliseconds() + milliseconds
        while true {
            if rmdir(directory) == 0 || errno == ENOENT { return true }
            for name in Tree.names(in: directory) where access(directory + "/" + name + "/cgroup.procs", F_OK) == 0 {
                remove(directory + "/" + name, within: 0)
            }
            if !write("1", to: directory + "/cgroup.kill") {
                for process in processes(in: directory) { kill(process, SIGKILL) }
            }
            guard Time.monotonicMilliseconds() < deadline else { return false }
            poll(nil, 0, 2)
        }
    }
}
