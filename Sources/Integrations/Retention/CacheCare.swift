package import Basics
package import Execution
package import Jobs
package import Logging
package import Model
import Settings
package import SourceControl
package import Storage

/// Removes caches: workspaces and mirrors, which are made again when they are needed. It never touches one that is in use.
package struct CacheCare: Sendable {
    private let store: Store
    private let state: StateDirectory
    private let workspaces: Workspaces
    private let mirrors: Mirrors
    private let survey: DiskSurvey
    private let clock: WallClock
    private let logger: Logger
    private let queue = SerialQueue(label: "caches")

    package init(
        store: Store, state: StateDirectory, workspaces: Workspaces, mirrors: Mirrors, survey: DiskSurvey,
        clock: WallClock, logger: Logger
    ) {
        self.store = store
        self.state = state
        self.workspaces = workspaces
        self.mirrors = mirrors
        self.survey = survey
        self.clock = clock
        self.logger = logger
    }

    /// What was removed.
    package struct Outcome: Sendable, Hashable {
        /// The number of removed workspaces and mirrors.
        package var removed = 0
        /// Their disk use.
        package var use = DiskUse()
        /// The number of workspaces that stay, because a job uses them.
        package var busy = 0

        package init() {}
    }

    /// Removes the workspaces of a bot that no job uses, with the products of builds and the tools' caches in them. The next builds begin from
    /// scratch, also those on nodes of clusters, which empty their workspaces themselves.
    /// - Throws: `FileError` if one cannot be removed; the others are removed.
    package func clean(_ bot: Name) async throws(FileError) -> Outcome {
        try await recordCleaning(of: bot)
        var (outcome, failure) = (Outcome(), FileError?.none)
        for workspace in await found(of: bot) {
            do throws(FileError) {
                try await remove(workspace, &outcome)
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return outcome
    }

    private func recordCleaning(of bot: Name) async throws(FileError) {
        let (cleaning, now) = (NodeCleaning(directory: state.nodes, bot: bot), clock.now())
        try await queue.run { () throws(FileError) in try cleaning.record(at: now) }
    }

    /// Removes all directories of a bot that has no jobs and will have none. A later bot of its name gets empty workspaces on nodes, too.
    func removeAll(of bot: Name) async throws(FileError) {
        try await recordCleaning(of: bot)
        let state = state
        try await queue.run { () throws(FileError) in
            for place in [state.workspaces, state.integrations] {
                try Directory(opening: place).remove(bot.description)
            }
        }
    }

    private func found(of bot: Name) async -> [Workspace] {
        let root = state.workspaces
        return await queue.run { Workspace.all(in: root).filter { $0.path.hasPrefix("\(root)/\(bot)/") } }
    }

    private func remove(_ workspace: Workspace, _ outcome: inout Outcome) async throws(FileError) {
        guard await workspaces.acquireIdle(workspace) else {
            outcome.busy += 1
            return
        }
        let root = state.workspaces
        var failure: FileError?
        do throws(FileError) {
            let use = try await survey.use(of: "workspaces/" + workspace.path.dropFirst(root.count + 1))
            try await queue.run { () throws(FileError) in try workspace.remove(beneath: root) }
            outcome.removed += 1
            outcome.use = outcome.use + use
        } catch {
            failure = error
        }
        await workspaces.release(workspace)
        if let failure { throw failure }
    }

    /// Applies the settings' limits: removes workspaces that were unused for long, the mirrors of repositories that nothing names any more, and then
    /// the least recently used workspaces until the caches fit.
    func apply(_ limits: CacheLimits) async throws {
        var outcome = Outcome()
        let root = state.workspaces
        var all = await queue.run { Workspace.leastRecentlyUsed(in: root) }
        if let age = limits.workspaces {
            let limit = (clock.now() + (.zero - age)).millisecondsSinceEpoch / 1000
            for workspace in all where await queue.run({ Int64(workspace.lastUsed) }) < limit {
                try await remove(workspace, &outcome)
            }
            all = await queue.run { Workspace.leastRecentlyUsed(in: root) }
        }
        try await removeUnusedMirrors(&outcome)
        if let most = limits.caches {
            var total = try await survey.use(of: "workspaces").bytes
            total = .clampedSum(total, try await survey.use(of: "repositories").bytes)
            for workspace in all where total > most.bytes {
                let before = outcome.use.bytes
                try await remove(workspace, &outcome)
                total -= outcome.use.bytes - before
            }
        }
        guard outcome.removed > 0 else { return }
        logger.notice(
            "unused caches were removed",
            metadata: ["caches": "\(outcome.removed)", "bytes": "\(outcome.use.bytes)"])
    }

    /// Removes the mirrors of repositories that no bot and no integration names any more.
    func removeUnusedMirrors(_ outcome: inout Outcome) async throws {
        for repository in try await store.unusedRepositories() {
            guard let url = try? RemoteURL(repository, isInsecureAllowed: true) else { continue }
            let mirror = mirrors.mirror(of: url)
            let use = try await survey.use(of: "repositories/\(mirror.directoryName)")
            guard use.files > 0 else { continue }
            // A bot may have come meanwhile: its next scan makes the mirror again.
            try await mirror.remove()
            outcome.removed += 1
            outcome.use = outcome.use + use
        }
    }
}
