import Glibc
import JobProtocol

/// Holds a running step to the limits that the kernel does not hold by itself, or does not tell of.
final class LimitWatch {
    /// How often the control group is asked. A step that is out of memory or cannot fork is ended this long after, at most.
    private static let groupMilliseconds: Int64 = 200
    /// How often processes are counted where no control group counts them: it reads all of /proc.
    private static let countMilliseconds: Int64 = 1000

    private let limits: JobDescription.Limits
    private let group: ControlGroup?
    private let isFenced: Bool
    private let workspace: WorkspaceWatch
    private var before = ControlGroup.Events()
    private var nextGroup: Int64 = 0
    private var nextCount: Int64 = 0

    init(limits: JobDescription.Limits, group: ControlGroup?, isFenced: Bool, workspace: Tree) {
        self.limits = limits
        self.group = group
        self.isFenced = isFenced
        self.workspace = WorkspaceWatch(tree: workspace, limits: limits)
    }

    /// When to look again, on the monotonic clock.
    var nextLook: Int64 {
        min(workspace.nextLook, group == nil ? .max : nextGroup, group?.limitsProcesses ?? false ? .max : nextCount)
    }

    /// A step begins: what happened before is not its fault.
    func begin(now: Int64) {
        group?.open()
        before = group?.events() ?? ControlGroup.Events()
        nextGroup = now + Self.groupMilliseconds
        nextCount = now + Self.countMilliseconds
        workspace.begin(now: now)
    }

    /// - Returns: The limit that the step is over, in words.
    func look(now: Int64) -> String? {
        if now >= nextGroup, let group {
            nextGroup = now + Self.groupMilliseconds
            if let words = words(of: group.events()) { return words }
        }
        if now >= nextCount, !(group?.limitsProcesses ?? false) {
            nextCount = now + Self.countMilliseconds
            let count = ProcessTable.descendants(of: getpid()).reduce(0) { $0 + ($1.isAlive ? $1.threads : 0) }
            // In a fence forks fail at the limit: there are never more.
            if count >= limits.processes + (isFenced ? ControlGroup.ownProcesses : 1) { return processWords }
        }
        return now >= workspace.nextLook ? workspace.look(now: now) : nil
    }

    /// The step's main process has ended, and nothing was killed yet: what happened since the last look.
    func lookAtMainEnd() -> String? { group.flatMap { words(of: $0.events()) } }

    /// The last process has ended: what the step wrote since the last look.
    /// - Parameter signal: That ended the main process.
    func lookAtEnd(signal: Int32?) -> String? { signal == SIGXFSZ ? workspace.byteWords : workspace.lookAtEnd() }

    private var processWords: String { "processes over \(limits.processes)" }

    private func words(of events: ControlGroup.Events) -> String? {
        if events.memoryKills > before.memoryKills {
            return limits.memoryBytes.map { "out of memory at \(Words.size($0))" } ?? "out of memory"
        }
        return events.refusedForks > before.refusedForks ? processWords : nil
    }
}
