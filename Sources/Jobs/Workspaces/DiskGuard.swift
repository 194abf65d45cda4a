import Basics
import Execution
import JobProtocol
import Logging
import Synchronization

/// Keeps room for the service on the disks of the state and of the workspaces.
///
/// Workspaces are a cache. If the disk is short of bytes or files, workspaces that no job uses are removed, least recently used first, until there
/// is ample room. If almost nothing is left, the reserve is released, too. Jobs wait until there is room again.
package final class DiskGuard: Sendable {
    /// The result of one check.
    package struct Finding: Sendable {
        /// Whether the disk was short when the check began.
        package var wasShort = false
        /// A sentence about what the disk is short of now, such as `the disk is full: /var/lib/martlet/workspaces has less than 256 MiB left`. `nil`
        /// if it has enough.
        package var shortage: String?
    }

    private struct State {
        /// The result of the last check.
        var shortage: String?
        var look: Task<Finding, Never>?
        /// The directories whose disk was short and has had no ample room since.
        var short: Set<String> = []
    }

    private let state: StateDirectory
    private let workspaces: Workspaces
    private let logger: Logger
    private let queue = SerialQueue(label: "disk")
    /// A separate queue: a check never waits for the removal of a large workspace.
    private let removals = SerialQueue(label: "disk.removals")
    private let shared = Mutex(State())
    /// Whether this process keeps the reserve: the service, not a run of a working tree.
    private let keepsReserve = Mutex(false)
    private let complaints: Mutex<[Trouble: Set<String>]> = Mutex([:])

    /// The troubles that can occur at every check. Checks are a second apart, so each cause is logged once until the trouble is over.
    private enum Trouble { case reserve, removal }

    init(state: StateDirectory, workspaces: Workspaces, logger: Logger) {
        self.state = state
        self.workspaces = workspaces
        self.logger = logger
    }

    /// A sentence about what the disk was short of at the last check; `nil` if it had enough.
    package var shortage: String? { shared.withLock { $0.shortage } }

    /// Checks the disks; the service calls it each second. Does not wait for removals.
    package func tend() async {
        keepsReserve.withLock { $0 = true }
        _ = await begin()
    }

    /// Whether the disk with the workspaces has less than what is needed at this moment.
    func isShort() async -> Bool {
        await queue.run { [self] in
            // This call also records a shortage: jobs wait for ample room from now on.
            _ = words(state.workspaces)
            return DiskRoom(at: state.workspaces)?.shortage != nil
        }
    }

    /// Whether a write may have failed for lack of room, because one of the two disks has less than ample room now. That disk counts as short from
    /// then on, even if it has enough room again.
    func mayHaveBeenShort() async -> Bool {
        await queue.run { [self] in
            let short = [state.workspaces, state.path].filter { DiskRoom(at: $0)?.isAmple == false }
            shared.withLock { $0.short.formUnion(short) }
            return !short.isEmpty
        }
    }

    /// Checks the disks, and makes room if there is too little. Concurrent callers share one check.
    package func look() async -> Finding { await begin()?.value ?? Finding() }

    /// Starts a check.
    /// - Returns: The check that makes room, which other callers may await, too; `nil` if there is enough room.
    private func begin() async -> Task<Finding, Never>? {
        let isEnough = await queue.run { [self] in
            let words = [state.workspaces, state.path].compactMap { self.words($0) }
            return words.isEmpty && !mustKeepReserve
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
        if await queue.run({ [self] in self.words(state.workspaces) }) != nil {
            finding.wasShort = true
            await removeIdleWorkspaces()
        }
        let words = await queue.run { [self] in
            // The room is measured before the reserve is created, because the reserve takes some of the ample room.
            defer { tendReserve() }
            return [state.workspaces, state.path].compactMap { self.words($0) }.first
        }
        finding.shortage = words
        finding.wasShort = finding.wasShort || words != nil
        let before = shared.withLock { shared in
            defer { (shared.shortage, shared.look) = (words, nil) }
            return shared.shortage
        }
        if let words, before == nil { logger.warning("the disk is full", metadata: ["disk": "\(words)"]) }
        if words == nil {
            end(.removal)
            if before != nil { logger.notice("the disk has room again") }
        }
        return finding
    }

    /// Returns what a directory's disk is short of, in words; `nil` if it has enough room. A disk that was short needs ample room to be no longer
    /// short. Blocks.
    private func words(_ path: String) -> String? {
        guard let room = DiskRoom(at: path) else { return nil }
        let wasShort = shared.withLock { shared in
            if room.shortage != nil { shared.short.insert(path) }
            if room.isAmple { shared.short.remove(path) }
            return shared.short.contains(path)
        }
        guard wasShort else { return nil }
        return (room.shortage ?? room.shortageOfAmple).map { "the disk is full: \(path) has \($0)" }
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
            if try reserve.release(room) {
                logger.warning("the reserve of the disk was released", metadata: ["path": "\(state.reserve)"])
            } else if keepsReserve.withLock({ $0 }) {
                try reserve.keep(room)
            }
            if reserve.isThere { end(.reserve) }
        } catch {
            warnOnce(
                .reserve, "the disk's reserve could not be kept or released; Martlet tries again each second",
                ["error": "\(error)"])
        }
    }

    /// Logs a warning, unless the same was logged since the trouble began.
    private func warnOnce(_ trouble: Trouble, _ message: Logger.Message, _ metadata: Logger.Metadata) {
        let isNew = complaints.withLock { $0[trouble, default: []].insert("\(message) \(metadata)").inserted }
        if isNew { logger.warning(message, metadata: metadata) }
    }

    private func end(_ trouble: Trouble) { complaints.withLock { $0[trouble] = nil } }

    private func removeIdleWorkspaces() async {
        let found = await queue.run { [state] in Workspace.leastRecentlyUsed(in: state.workspaces) }
        for workspace in found where await workspaces.acquireIdle(workspace) {
            warnOnce(.removal, "a workspace is removed, since the disk is full", ["path": "\(workspace.path)"])
            do {
                try await removals.run { [state] in try workspace.remove(beneath: state.workspaces) }
            } catch {
                warnOnce(
                    .removal, "a workspace could not be removed", ["path": "\(workspace.path)", "error": "\(error)"])
            }
            await workspaces.release(workspace)
            if await queue.run({ [state] in DiskRoom(at: state.workspaces)?.isAmple ?? true }) { return }
        }
    }
}
