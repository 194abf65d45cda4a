import Glibc
import JobProtocol

/// Enforces the limits of a running step that the kernel does not enforce by itself, or does not report.
final class LimitWatch {
    /// How often the control group is checked, in milliseconds. A step that is out of memory or cannot fork is ended at most this long afterwards.
    private static let groupMilliseconds: Int64 = 200
    /// How often processes and their memory are counted without a control group, in milliseconds. Counting reads all of /proc.
    private static let countMilliseconds: Int64 = 250
    /// The pause after a count, as a multiple of its processor time. Counting then takes a twentieth of a processor. Elapsed time would be wrong:
    /// after a machine stalled the supervisor for a second, it would not count for 20 s, while the job exceeds its limits.
    private static let restFactor: Int64 = 20
    /// The longest pause between checks, in milliseconds, however long a check takes. A job can exceed its limits for no longer than this.
    static let longestRest: Int64 = 10_000

    /// The reason for ending a step.
    enum Finding: Equatable {
        /// A limit that the step exceeds, in words.
        case limit(String)
        /// A fault of the machine, in words.
        case fault(String)
    }

    private let limits: JobDescription.Limits
    private let group: ControlGroup?
    private let isSandboxed: Bool
    private let workspace: WorkspaceWatch
    private let share: UserShare
    /// Helper processes of the supervisor, which are not counted.
    var sparing: Set<Int32> = [] {
        didSet {
            workspace.sparing = sparing
            share.sparing = sparing
        }
    }
    private var before = ControlGroup.Events()
    private var nextGroup: Int64 = 0
    private var nextCount: Int64 = 0

    /// - Parameter home: The home of all of the job's steps, whose files count with the workspace's; `nil` if it has none on the disk.
    init(limits: JobDescription.Limits, group: ControlGroup?, isSandboxed: Bool, workspace: Tree, home: Tree?) {
        self.limits = limits
        self.group = group
        self.isSandboxed = isSandboxed
        self.workspace = WorkspaceWatch(tree: workspace, home: home, limits: limits, isSandboxed: isSandboxed)
        share = UserShare(isSandboxed: isSandboxed)
    }

    /// The time of the next check, in milliseconds of the monotonic clock.
    var nextLook: Int64 {
        min(workspace.nextLook, share.nextLook, group == nil ? nextCount : nextGroup)
    }

    /// Begins a step. Earlier events are not attributed to it.
    func begin(now: Int64) {
        group?.open()
        before = group?.eventsBefore() ?? ControlGroup.Events()
        nextGroup = now + Self.groupMilliseconds
        nextCount = now + Self.countMilliseconds
        workspace.begin(now: now)
        share.begin(now: now)
    }

    /// Checks the limits.
    /// - Returns: The reason for ending the step; `nil` if there is none.
    func look(now: Int64) -> Finding? {
        if let group {
            if now >= nextGroup {
                nextGroup = now + Self.groupMilliseconds
                if let finding = finding(in: group.events()) { return finding }
            }
        } else if now >= nextCount {
            let begun = Time.workedMilliseconds()
            let words = count()
            let cost = Time.workedMilliseconds() - begun
            nextCount = now + max(Self.countMilliseconds, min(cost * Self.restFactor, Self.longestRest))
            if let words { return .limit(words) }
        }
        if now >= share.nextLook, let finding = share.look(now: now) { return finding }
        guard now >= workspace.nextLook else { return nil }
        if let words = workspace.look(now: now) { return .limit(words) }
        return workspace.fullDiskWords.map { .fault($0) }
    }

    /// Checks what happened since the last check, after the step's main process has ended and before any process is killed.
    func lookAtMainEnd() -> Finding? { group.flatMap { finding(in: $0.events()) } }

    /// The reason if a failed step filled the disk before a check noticed; otherwise `nil`.
    var fullDiskWords: String? { workspace.fullDiskWords }

    /// Checks what the step wrote since the last check, after its last process has ended.
    /// - Parameter signal: The signal that ended the main process.
    func lookAtEnd(signal: Int32?) -> Finding? {
        (signal == SIGXFSZ ? workspace.fileWords : workspace.lookAtEnd()).map { .limit($0) }
    }

    /// Returns the limit that the job's processes exceed according to /proc; `nil` if they exceed none.
    private func count() -> String? {
        let processes = ProcessTable.descendants(of: getpid(), except: sparing).filter(\.isAlive)
        // In a sandbox, the kernel refuses a fork only one process beyond the limit, so this count can exceed it.
        let threads = processes.reduce(0) { $0 + $1.threads }
        if threads > limits.processes + (isSandboxed ? ControlGroup.ownProcesses : 0) { return processWords }
        guard let limit = limits.memoryBytes else { return nil }
        let files = MemoryUse.files(of: processes)
        guard MemoryUse.atMost(processes, files: files) > limit, MemoryUse.together(processes, files: files) > limit
        else { return nil }
        return memoryWords(limit)
    }

    private func memoryWords(_ limit: Int64) -> String { "out of memory at \(Words.size(limit))" }

    private var processWords: String { "processes over \(limits.processes)" }

    /// Attributes new events. The kernel also counts the processes of a group that it kills because the machine has no memory left. Those are not the
    /// job's fault (cgroup-v2, `memory.events`).
    private func finding(in events: ControlGroup.Events) -> Finding? {
        if events.memoryKills > before.memoryKills {
            guard events.memoryLimits > before.memoryLimits, let limit = limits.memoryBytes else {
                // Slurm gives a job less than the machine has (ConstrainRAMSpace, cgroup.conf(5)).
                if getenv("SLURM_JOB_ID") != nil {
                    return .limit("out of memory at what Slurm gave it (OUT_OF_MEMORY)")
                }
                return .fault("the machine ran out of memory, and the kernel ended a process of the job")
            }
            return .limit(memoryWords(limit))
        }
        return events.refusedForks > before.refusedForks ? .limit(processWords) : nil
    }
}
