import Basics
package import Execution
import Glibc
import JobProtocol
import Model
import SourceControl
import Storage

/// Prepares an attempt on a node of a cluster: the commit in a workspace of the node. It is what `JobRunner` does on the daemon's machine.
package struct NodeCheckout: Sendable {
    private let attempt: AttemptDirectory

    package init(_ attempt: AttemptDirectory) { self.attempt = attempt }

    /// How long a node waits for another job's process to leave the workspace. Only the process of an attempt that was given up can be in it.
    private static let patience = Duration.seconds(30)
    /// How often a node looks for a request to cancel while it checks out.
    private static let interval = Duration.milliseconds(500)

    /// Checks the commit out, and takes the workspace for as long as this process and the program that replaces it live.
    /// - Returns: `false` if the attempt was canceled meanwhile.
    /// - Throws: `SourceControlError` and others with a sentence.
    package func run() async throws -> Bool {
        let order = try CheckoutOrder.read(of: attempt)
        guard let workspace = Workspace(tree: order.tree) else {
            throw ExecutionError(
                .malformed, "read \(attempt.paths.checkout)", "\(order.tree) is not the tree of a workspace")
        }
        let root = try Directory(creating: workspace.path)
        try root.setMode(0o700, ofDirectory: ".")
        guard try await lock(workspace) else { return false }
        let last = "\(workspace.path)/attempt"
        let isTrusted = Self.isTrusted(last)
        // Without an end of the job before, nobody knows what it left.
        if workspace.isThrowaway || !isTrusted { try empty(workspace) }
        try AtomicFile.write(Array(attempt.path.utf8), to: last, surviving: .kill)
        guard let report = try await checkout(order, workspace) else { return false }
        let now = WallClock.system.now()
        try workspace.recordCheckout(isFresh: report.isFresh, mark: order.mark, at: now)
        try workspace.makeRoom(isSandboxed: order.isSandboxed)
        if report.isFresh { try AtomicFile.write([], to: attempt.paths.fresh) }
        let tracked = report.files.matching(order.reports)
        if !tracked.isEmpty { try AtomicFile.write(tracked.flatMap { $0 + [0] }, to: attempt.paths.tracked) }
        return true
    }

    private func checkout(_ order: CheckoutOrder, _ workspace: Workspace) async throws -> CheckoutReport? {
        let mirrors = Mirrors(directory: order.mirrors)
        let mirror = mirrors.mirror(of: try RemoteURL(order.repository, isInsecureAllowed: true))
        let submodules = order.hasSubmodules ? try await mirrors.submodules(of: order.commit, in: mirror) : []
        let isClean =
            order.isClean
            || order.clean != .never && order.clean.isDue(cleaned: workspace.lastCleaned, now: WallClock.system.now())
            || workspace.isMoved(mark: order.mark)
        let cancel = attempt.paths.cancel
        return try await withThrowingTaskGroup(of: CheckoutReport?.self) { group in
            group.addTask {
                try await mirror.checkout(
                    order.commit, ref: order.ref, into: workspace.tree, state: workspace.state, isClean: isClean,
                    kept: order.kept, submodules: submodules,
                    upstream: UpstreamRefs(branches: order.upstream, defaultBranch: order.defaultBranch),
                    acceptsPointers: order.acceptsPointers)
            }
            group.addTask {
                while access(cancel, F_OK) != 0 { try await Task.sleep(for: Self.interval) }
                return nil
            }
            defer { group.cancelAll() }
            return try await group.next() ?? nil
        }
    }

    /// Takes the workspace's lock, which the supervisor then holds.
    /// - Returns: `false` if the attempt was canceled meanwhile.
    private func lock(_ workspace: Workspace) async throws -> Bool {
        let file = workspace.path + "/lock"
        let deadline = ContinuousClock.now + Self.patience
        while try !SuccessorLock.acquire(file) {
            if access(attempt.paths.cancel, F_OK) == 0 { return false }
            guard ContinuousClock.now < deadline else {
                throw ExecutionError(
                    .directory, "lock \(file)",
                    "a job that was given up still runs in this workspace; end it on \(LockContent.currentHost() ?? "the node")"
                )
            }
            try await Task.sleep(for: Self.interval)
        }
        return true
    }

    private func empty(_ workspace: Workspace) throws {
        let directory = try Directory(opening: workspace.path)
        for entry in try directory.entries() where entry.name != "lock" { try directory.remove(entry.bytes) }
    }

    /// Whether the last job in the workspace has ended in order. True for a new workspace.
    private static func isTrusted(_ last: String) -> Bool {
        guard let bytes = try? WholeFile.read(last, limit: 4096) else { return access(last, F_OK) != 0 }
        let before = AttemptDirectory(path: String(decoding: bytes, as: UTF8.self))
        // Retention has removed an attempt that had ended long ago. A lost one is removed as late, so its workspace is emptied.
        return (try? before.liveness()) == .finished
    }
}
