import Basics
import JobProtocol
import Logging
import Synchronization

/// Keeps room for the service on the disks of the state and of the workspaces.
///
/// Workspaces are a cache. If the disk is short of bytes or files, workspaces that no job uses are removed, least recently used first, until there
/// is ample room. If almost nothing is left, the reserve is released, too. Jobs wait until there is room again.
package final class DiskGuard: Sendable {
    /// The result of one check.
    struct Finding: Sendable {
        /// Whether the disk was short when the check began.
        var wasShort = false
        /// What the disk is short of now: `the disk is full: /var/lib/martlet/workspaces has less than 256 MiB left`; `nil` if it has enough.
        var shortage: String?
    }

    private let state: StateDirectory
    private let workspaces: Workspaces
    private let logger: Logger
    private let lane = BlockingLane(label: "disk")
    /// A separate queue: a check never waits for the removal of a large workspace.
    private let removals = BlockingLane(label: "disk.removals")
    private let shared: Mutex<(shortage: String?, look: Task<Finding, Never>?)> = Mutex((nil, nil))
    /// Whether this process keeps the reserve: the service does, a run of a working tree does not.
    private let keepsReserve = Mutex(false)

    init(state: StateDirectory, workspaces: Workspaces, logger: Logger) {
        self.state = state
        self.workspaces = workspaces
        self.logger = logger
    }

    /// What the disk was short of at the last check; `nil` if it had enough.
    package var shortage: String? { shared.withLock { $0.shortage } }

    /// Checks the disks; the service calls it each second. Does not wait for removals.
    func tend() async {
        keepsReserve.withLock { $0 = true }
        _ = await begin()
    }

    /// Whether the disk with the workspaces is short.
    func isShort() async -> Bool { await lane.run { [state] in Self.words(state.workspaces) != nil } }

    /// Checks the disks, and makes room if there is too little. Concurrent checks are combined.
    func look() async -> Finding { await begin()?.value ?? Finding() }

    /// - Returns: The check that makes room, which other callers may await, too; `nil` if there is enough room.
    private func begin() async -> Task<Finding, Never>? {
        let isEnough = await lane.run { [self] in
            Self.words(state.workspaces) == nil && Self.words(state.path) == nil && !mustKeepReserve
        }
        return shared.withLock { shared in
            if isEnough, shared.look == nil {
                shared.shortage = nil
                return nil
            }
            if let look = shared.look { return look }
            let look = Task { await makeRoom() }
            shared.look = look
            return look
        }
    }

    private func makeRoom() async -> Finding {
        var finding = Finding()
        if await lane.run({ [state] in Self.words(state.workspaces) }) != nil {
            finding.wasShort = true
            await removeIdleWorkspaces()
        }
        await lane.run { [self] in tendReserve() }
        let words = await lane.run { [state] in Self.words(state.workspaces) ?? Self.words(state.path) }
        finding.shortage = words
        finding.wasShort = finding.wasShort || words != nil
        let before = shared.withLock { shared in
            defer { shared = (words, nil) }
            return shared.shortage
        }
        if let words, before == nil { logger.warning("the disk is full", metadata: ["disk": "\(words)"]) }
        if words == nil, before != nil { logger.notice("the disk has room again") }
        return finding
    }

    private static func words(_ path: String) -> String? {
        DiskRoom(at: path)?.shortage.map { "the disk is full: \(path) has \($0)" }
    }

    private var reserve: DiskReserve { DiskReserve(state: state) }

    /// Whether the reserve is missing and can be created.
    private var mustKeepReserve: Bool {
        guard keepsReserve.withLock({ $0 }), !reserve.isThere else { return false }
        return DiskRoom(at: state.path)?.isAmple ?? false
    }

    private func tendReserve() {
        guard let room = DiskRoom(at: state.path) else { return }
        do {
            if try reserve.giveBack(room) {
                logger.warning("the reserve of the disk was given back", metadata: ["path": "\(state.reserve)"])
            } else if keepsReserve.withLock({ $0 }) {
                try reserve.keep(room)
            }
        } catch {
            logger.warning("the disk's reserve could not be kept or given back", metadata: ["error": "\(error)"])
        }
    }

    private func removeIdleWorkspaces() async {
        let found = await lane.run { [state] in Workspace.leastRecentlyUsed(in: state.workspaces) }
        for workspace in found where await workspaces.takeIdle(workspace) {
            logger.warning("a workspace is removed, since the disk is full", metadata: ["path": "\(workspace.path)"])
            do {
                try await removals.run { [state] in try workspace.remove(beneath: state.workspaces) }
            } catch {
                logger.warning(
                    "a workspace could not be removed", metadata: ["path": "\(workspace.path)", "error": "\(error)"])
            }
            await workspaces.giveBack(workspace)
            if await lane.run({ [state] in DiskRoom(at: state.workspaces)?.isAmple ?? true }) { return }
        }
    }
}
