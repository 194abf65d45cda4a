import Glibc
import JobProtocol

/// Holds a running step to the limits that the kernel does not hold by itself, or does not tell of.
final class LimitWatch {
    /// How often the control group is asked. A step that is out of memory or cannot fork is ended this long after, at most.
    private static let groupMilliseconds: Int64 = 200
    /// How often processes and their memory are counted where no control group does that: it reads all of /proc.
    private static let countMilliseconds: Int64 = 250
    /// How much longer than such a look works the next one waits: a twentieth of a processor. It counts no time in which others had it: a
    /// supervisor that the machine lets stand for a second would not look for 20 s then, while its job takes what it wants.
    private static let restFactor: Int64 = 20
    /// However much a look works: what a job takes beyond its limits it has for no longer.
    static let longestRest: Int64 = 10_000

    /// What ends a step.
    enum Finding: Equatable {
        /// A limit that it is over, in words.
        case limit(String)
        /// The machine's fault, in words.
        case fault(String)
    }

    private let limits: JobDescription.Limits
    private let group: ControlGroup?
    private let isFenced: Bool
    private let workspace: WorkspaceWatch
    private let share: UserShare
    /// Processes of ours, which are not counted.
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
    init(limits: JobDescription.Limits, group: ControlGroup?, isFenced: Bool, workspace: Tree, home: Tree?) {
        self.limits = limits
        self.group = group
        self.isFenced = isFenced
        self.workspace = WorkspaceWatch(tree: workspace, home: home, limits: limits, isFenced: isFenced)
        share = UserShare(isFenced: isFenced)
    }

    /// When to look again, on the monotonic clock.
    var nextLook: Int64 {
        min(workspace.nextLook, share.nextLook, group == nil ? nextCount : nextGroup)
    }

    /// A step begins: what happened before is not its fault.
    func begin(now: Int64) {
        group?.open()
        before = group?.eventsBefore() ?? ControlGroup.Events()
        nextGroup = now + Self.groupMilliseconds
        nextCount = now + Self.countMilliseconds
        workspace.begin(now: now)
        share.begin(now: now)
    }

    /// - Returns: What the step is to be ended for.
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

    /// What happened since the last check, at the end of the step's main process and before anything was killed.
    func lookAtMainEnd() -> Finding? { group.flatMap { finding(in: $0.events()) } }

    /// The reason, if a failed step used up the disk before anybody checked.
    var fullDiskWords: String? { workspace.fullDiskWords }

    /// The last process has ended: what the step wrote since the last look.
    /// - Parameter signal: That ended the main process.
    func lookAtEnd(signal: Int32?) -> Finding? {
        (signal == SIGXFSZ ? workspace.fileWords : workspace.lookAtEnd()).map { .limit($0) }
    }

    /// What the job's processes are over, by all that /proc tells of them.
    private func count() -> String? {
        let processes = ProcessTable.descendants(of: getpid(), except: sparing).filter(\.isAlive)
        // In a fence forks fail one beyond the limit.
        let threads = processes.reduce(0) { $0 + $1.threads }
        if threads > limits.processes + (isFenced ? ControlGroup.ownProcesses : 0) { return processWords }
        guard let limit = limits.memoryBytes else { return nil }
        let files = MemoryUse.files(of: processes)
        guard MemoryUse.atMost(processes, files: files) > limit, MemoryUse.together(processes, files: files) > limit
        else { return nil }
        return memoryWords(limit)
    }

    private func memoryWords(_ limit: Int64) -> String { "out of memory at \(Words.size(limit))" }

    private var processWords: String { "processes over \(limits.processes)" }

    /// The kernel counts what it kills of a group also when the machine has no memory left; then it is none of the group's doing
    /// (cgroup-v2, `memory.events`).
    private func finding(in events: ControlGroup.Events) -> Finding? {
        if events.memoryKills > before.memoryKills {
            guard events.memoryLimits > before.memoryLimits, let limit = limits.memoryBytes else {
                return .fault("the machine ran out of memory, and the kernel ended a process of the job")
            }
            return .limit(memoryWords(limit))
        }
        return events.refusedForks > before.refusedForks ? .limit(processWords) : nil
    }
}
