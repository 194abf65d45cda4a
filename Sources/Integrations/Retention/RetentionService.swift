import Basics
package import Execution
package import Jobs
package import Logging
package import Model
package import Settings
import SourceControl
package import Storage
import Synchronization

/// Removes old integrations according to the settings and the bots' files: periodically, and at a user's request.
///
/// First one small transaction hides them everywhere. Then their directories are moved aside, the commits that they hold are released, and their rows
/// are deleted. The files are removed last. If it is stopped at any time, the next round does the rest.
package final class RetentionService: Sendable {
    /// The time between two rounds.
    package static let interval = Duration.seconds(3600)
    /// How far ages advance in a round, at most: the time that has passed, and as much again of the time while the service was stopped. So a clock
    /// that jumps ahead by a year makes integrations older only by the time for which it was wrong.
    static let step = interval * 2
    /// The start of 2025. No daemon ran before then, so an earlier time means that the clock is not set.
    static let earliest = Timestamp(secondsSinceEpoch: 1_735_689_600)

    private let store: Store
    private let retention: Mutex<Retention>
    private let auditAge = Mutex(AuditEntry.usualAge)
    private let caches: CacheCare
    private let cacheLimits: Mutex<CacheLimits>
    private let disk: RetentionDisk
    private let remotes: Remotes
    private let clock: WallClock
    private let timer: any Clock<Duration>
    private let logger: Logger
    /// The slot for rounds and users' requests, which run one after the other.
    private let turn = JobSlots(count: 1)
    private let sweep = Signal()

    /// - Parameters:
    ///   - retention: The limits of the settings.
    ///   - caches: Removes workspaces and mirrors.
    ///   - cacheLimits: The limits of the settings for caches and retired bots.
    package init(
        store: Store, state: StateDirectory, retention: Retention, caches: CacheCare,
        cacheLimits: CacheLimits = CacheLimits(), remotes: Remotes, clock: WallClock,
        timer: any Clock<Duration>, logger: Logger
    ) {
        self.store = store
        self.retention = Mutex(retention)
        self.caches = caches
        self.cacheLimits = Mutex(cacheLimits)
        disk = RetentionDisk(state: state)
        self.remotes = remotes
        self.clock = clock
        self.timer = timer
        self.logger = logger
    }

    /// Changes the limits of the settings, from the next round on.
    /// - Parameter audit: How long the audit keeps a row.
    package func limit(by retention: Retention, caches: CacheLimits, audit: Duration) {
        self.retention.withLock { $0 = retention }
        cacheLimits.withLock { $0 = caches }
        auditAge.withLock { $0 = audit }
    }

    /// Removes in the background what is hidden or deleted.
    func sweepSoon() { sweep.notify() }

    /// Finishes what an earlier daemon left, then starts a round periodically, until the task is canceled.
    package func run() async {
        // Files are removed in the background; the caller does not wait for that.
        sweep.notify()
        await withDiscardingTaskGroup { group in
            group.addTask { for await _ in self.sweep.notifications { await self.guarded { try await self.finish() } } }
            group.addTask {
                // Ages do not advance at the start. Otherwise a service that is restarted often would count time that did not pass.
                while (try? await self.timer.sleep(for: Self.interval)) != nil {
                    await self.guarded { _ = try await self.round() }
                }
            }
        }
    }

    private func guarded(_ body: () async throws -> Void) async {
        do {
            try await body()
        } catch is CancellationError {
            return
        } catch {
            // The next round tries again.
            logger.error("old integrations could not be removed", metadata: ["error": "\(error)"])
        }
    }

    /// Runs a periodic round: advances the ages, and removes.
    func round() async throws -> RetentionReport {
        // This includes what an earlier round could not finish.
        defer { sweep.notify() }
        return try await turn.withSlot {
            if clock.now() >= Self.earliest {
                _ = try await store.advanceRetentionClock(to: clock.now(), atMost: Self.step)
            }
            let counted = try await store.advanceRetentionClock(to: clock.now(), atMost: .zero)
            let age = auditAge.withLock { $0 }
            _ = try await store.trimAudit(before: counted + (.zero - age))
            let report = try await apply(isDry: false, bot: nil)
            try await applyCacheLimits(at: report.countedTo)
            return report
        }
    }

    /// Deletes the bots that have been without a file for too long, and removes what caches have too much.
    /// - Parameter time: The time up to which ages are counted; `nil` if the clock is not set.
    private func applyCacheLimits(at time: Timestamp?) async throws {
        let limits = cacheLimits.withLock { $0 }
        if let age = limits.retired, let time {
            for bot in try await store.bots(retiredBefore: time + (.zero - age)) {
                do throws(StoreError) {
                    let entry = AuditEntry(
                        .botDeleted, actor: AuditEntry.service, bot: bot, subject: bot.description,
                        detail: "by `retention: { retired: … }`")
                    try await store.delete(bot, recording: entry, at: clock.now())
                    logger.notice("a bot without a file was deleted by retention", metadata: ["bot": "\(bot)"])
                } catch {
                    // Its file has just returned, or one of its integrations has not ended.
                    guard [.illegalTransition, .notFound].contains(error.code) else { throw error }
                }
            }
        }
        if time != nil { try await caches.apply(limits) }
    }

    /// Handles a user's request. It does the same as a round, with the ages of the last one.
    /// - Parameters:
    ///   - isDry: Whether it only reports.
    ///   - bot: The bot whose integrations are removed; `nil` for every bot.
    package func prune(isDry: Bool, bot: Name? = nil) async throws -> RetentionReport {
        defer { if !isDry { sweep.notify() } }
        return try await turn.withSlot { try await apply(isDry: isDry, bot: bot) }
    }

    private func apply(isDry: Bool, bot only: Name?) async throws -> RetentionReport {
        var report = RetentionReport(isDone: !isDry)
        if clock.now() >= Self.earliest {
            report.countedTo = try await store.advanceRetentionClock(to: clock.now(), atMost: .zero)
        }
        let retention = retention.withLock { $0 }
        for (bot, own) in try await store.retentions() where only == nil || bot == only {
            let limits = (own ?? Retention()).over(retention)
            var rows = try await store.retentionRows(of: bot)
            // The directories are only measured if sizes matter, or for a dry run.
            if limits.isAnything || isDry { rows = try await measured(rows) }
            var plan = RetentionPlan(rows, keeping: limits, at: report.countedTo)
            if !isDry { plan = try await remove(plan, of: bot) }
            report.items += plan.items
        }
        for product in try await store.products() {
            let versions = try await store.versions(of: product).filter { $0.state == .published }
            let bytes = versions.reduce(0) { $1.files.reduce($0) { Int64.clampedSum($0, $1.size.bytes) } }
            if !versions.isEmpty { report.versions.append((product, versions.count, bytes)) }
        }
        return report
    }

    private func measured(_ rows: [RetentionRow]) async throws -> [RetentionRow] {
        var rows = rows
        var found: [(id: IntegrationID, run: Int, use: DiskUse)] = []
        // A running integration still grows, and has files that are removed at its end.
        for place in rows.indices where rows[place].disk == nil && !rows[place].isOpen {
            try Task.checkCancellation()
            let use = try await disk.use(of: rows[place].id)
            rows[place].disk = use
            found.append((rows[place].id, rows[place].run, use))
        }
        try await store.recordDiskUse(found)
        return rows
    }

    /// Returns the plan as it was carried out. Integrations that were taken up meanwhile are kept.
    private func remove(_ plan: RetentionPlan, of bot: Name) async throws -> RetentionPlan {
        let going = plan.items.filter(\.goes)
        guard !going.isEmpty else { return plan }
        // The oldest come first.
        let removed = Set(
            try await store.remove(going.reversed().map { ($0.row, $0.reason) }, of: bot, at: clock.now()))
        logger.notice(
            "old integrations were removed", metadata: ["bot": "\(bot)", "integrations": "\(removed.count)"])
        return plan.keeping { !removed.contains($0.row.id) }
    }

    /// Finishes all removals: directories, held commits, rows, and last the files.
    func finish() async throws {
        var failure: (any Error)?
        let deleted = try await store.deletedBots()
        for bot in deleted { try await store.hideIntegrations(of: bot, at: clock.now()) }
        for removed in try await store.removedIntegrations() {
            try Task.checkCancellation()
            do {
                try await disk.moveAside(removed.id)
                try await remotes.mirror(holding: removed.repository)?.release(removed.id)
                try await store.deleteRows(of: removed)
            } catch let error as CancellationError {
                throw error
            } catch {
                // A failure of a disk or a mirror does not delay the others.
                failure = error
            }
        }
        try await disk.removeAside()
        if let failure { throw failure }
        for bot in deleted {
            try Task.checkCancellation()
            // Its row goes last, so that a stop in between leaves nothing that is not removed later.
            try await caches.removeAll(of: bot.name)
            _ = try await store.forget(bot)
        }
        if !deleted.isEmpty {
            var outcome = CacheCare.Outcome()
            try await caches.removeUnusedMirrors(&outcome)
        }
    }
}

/// The integrations that retention keeps and removes, with the reasons.
package struct RetentionReport: Sendable {
    package var items: [RetentionPlan.Item] = []
    /// The published versions of each product, with the size of their files. None is ever removed.
    package var versions: [(product: Name, count: Int, bytes: Int64)] = []
    /// The time up to which ages are counted; `nil` if the clock is not set.
    package var countedTo: Timestamp?
    package var isDone: Bool

    package init(isDone: Bool) { self.isDone = isDone }
}
