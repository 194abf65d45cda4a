import GRDB
import Model

/// The application of one scan of a repository: it stores the result and decides its consequences. It lives within one write transaction.
struct ScanApplication {
    /// A ref that this scan saw move.
    struct Movement {
        var rowID: Int64
        var before: CommitID?
        var after: CommitID?
        var outcome = EventOutcome.ignored
        var reason: String?
    }

    let scan: RefScan
    let transaction: StoreTransaction
    let repository: Int64
    /// The heads that were known before the scan, without deleted refs.
    private(set) var before: [RefName: CommitID] = [:]
    var movements: [RefName: Movement] = [:]
    /// The outcome of this scan for each open pull request, keyed by number.
    var pulls: [Int: PullOutcome] = [:]
    var integrations: [IntegrationID] = []
    /// The first branch by name whose tip is a commit, keyed by commit. It is empty until pull requests are checked.
    var branches: [CommitID: RefName] = [:]
    /// The events that wait for another scan.
    var awaited: [ScanOutcome.Awaited] = []
    /// The refs that events waiting for this scan name as pushed. `nil` if one of those events names none, so it may be any ref.
    private var claimed: Set<RefName>? = []

    var db: Database { transaction.db }

    init(_ scan: RefScan, _ transaction: StoreTransaction) throws {
        self.scan = scan
        self.transaction = transaction
        let repository: Int64? = try transaction.db.value(
            "SELECT id FROM repositories WHERE url = ?", [scan.request.repository])
        guard let repository else { throw Refusal.notFound("repository \(scan.request.repository)") }
        self.repository = repository
    }

    mutating func run() throws -> ScanOutcome {
        try storeMovements()
        claimed = try claimedRefs()
        let anew = try botsThatWatchAnew()
        for watcher in scan.watchers { try queue(for: watcher) }
        try scanPulls(anew: anew)
        try closeForgottenPulls()
        let closed = try endClosedPulls()
        try storeOutcomes()
        try decideEvents()
        try trimPulls()
        let isRequestedAgain: Bool? = try db.value(
            """
            UPDATE repositories SET default_branch = ?, last_look = ?, last_error = ?, failures = 0,
                looked = max(looked, ?) WHERE id = ? RETURNING requested > looked
            """,
            [
                scan.defaultBranch?.description, scan.at.millisecondsSinceEpoch, scan.problem?.kept,
                scan.request.sequence,
                repository,
            ])
        transaction.changed(.repository(scan.request.repository))
        transaction.passes("look.stored")
        let updates = try movements.sorted { $0.key < $1.key }.map { try refUpdate($0.value.rowID) }
        return ScanOutcome(
            refUpdates: updates, integrations: integrations, isRequestedAgain: isRequestedAgain ?? false,
            closed: closed, awaited: awaited)
    }

    private func refUpdate(_ rowID: Int64) throws -> RefUpdateRecord {
        let row = try db.row(Store.refUpdateQuery + " WHERE ref_updates.id = ?", [rowID])
        guard let row else { throw Refusal.notFound("ref update \(rowID)") }
        return try Store.refUpdate(row, db)
    }

    // MARK: - Refs

    private mutating func storeMovements() throws {
        let rows = try db.rows(
            "SELECT name, head FROM refs WHERE repository = ? AND head IS NOT NULL", [repository])
        for row in rows { before[try row.ref("name")] = try row.value("head") { CommitID($0) } }
        for (ref, head) in scan.heads.sorted(by: { $0.key < $1.key }) where before[ref] != head {
            try move(ref, from: before[ref], to: head)
        }
        for ref in before.keys.sorted() where scan.heads[ref] == nil { try move(ref, from: before[ref], to: nil) }
    }

    private mutating func move(_ ref: RefName, from old: CommitID?, to new: CommitID?) throws {
        let upsert = try db.cachedStatement(
            sql: """
                INSERT INTO refs (repository, name, head, generation) VALUES (?, ?, ?, 1)
                ON CONFLICT (repository, name) DO UPDATE SET head = excluded.head, generation = generation + 1
                """)
        try upsert.execute(arguments: [repository, ref.description, new?.description])
        let insert = try db.cachedStatement(
            sql: """
                INSERT INTO ref_updates (repository, ref, generation, before, after, fate, reason, at)
                SELECT ?1, ?2, generation, ?3, ?4, 'ignored', NULL, ?5 FROM refs WHERE repository = ?1 AND name = ?2
                """)
        try insert.execute(
            arguments: [
                repository, ref.description, old?.description, new?.description, scan.at.millisecondsSinceEpoch,
            ])
        movements[ref] = Movement(
            rowID: db.lastInsertedRowID, before: old, after: new,
            reason: new == nil ? "the ref was deleted" : "no bot watches this ref")
    }

    // MARK: - Bots

    /// Queues the integrations of one bot: refs that moved while it watched them. At its first scan, or after its patterns were widened, the tips of
    /// the branches that are new to it are queued as well. Tags that are new to it are not integrated.
    ///
    /// A bot whose file was missing gets the tips of all branches, and tags that were created meanwhile: another bot's scan may have stored those
    /// movements.
    private mutating func queue(for watcher: Watcher) throws {
        let bot = try db.row(
            "SELECT id, patterns, is_returning FROM bots WHERE name = ? AND repository = ? AND is_retired = 0",
            [watcher.bot.description, repository])
        // The bot was retired, or moved to another repository, during the scan.
        guard let bot else { return }
        let id: Int64 = try bot["id"]
        let patterns: String? = try bot["patterns"]
        let isFirst = patterns == nil
        let isReturning: Bool = try bot["is_returning"]
        let known =
            patterns == watcher.patterns && !isReturning
            ? nil
            : Set(try db.rows("SELECT ref FROM watched_refs WHERE bot = ?", [id]).map { try $0.ref("ref") })
        for ref in (known == nil ? Array(movements.keys) : Array(scan.heads.keys)).sorted() {
            guard let head = scan.heads[ref], watcher.watches(ref) else { continue }
            let isUnknown = known.map { !$0.contains(ref) && before[ref] != nil } ?? false
            // The ref was created while the bot's file was missing, and another bot's scan has stored it.
            let isMissed = isReturning && isUnknown && patterns == watcher.patterns
            let isNew = isFirst || isUnknown || (isReturning && ref.branch != nil)
            if isNew, !isMissed, ref.branch == nil {
                try baseline(ref)
            } else if isNew || movements[ref] != nil {
                let cause = isNew && ref.branch != nil ? .baseline : cause(of: ref)
                try integrate(ref, head, bot: id, cause: cause, isReturning: isReturning, watcher)
            }
            if known != nil || before[ref] == nil { try remember(ref, bot: id) }
        }
        if let known { try forget(known.filter { !watcher.watches($0) }, bot: id, patterns: watcher.patterns) }
    }

    private func remember(_ ref: RefName, bot: Int64) throws {
        let statement = try db.cachedStatement(sql: "INSERT OR IGNORE INTO watched_refs (bot, ref) VALUES (?, ?)")
        try statement.execute(arguments: [bot, ref.description])
    }

    private func forget(_ refs: Set<RefName>, bot: Int64, patterns: String) throws {
        for ref in refs {
            try db.change("DELETE FROM watched_refs WHERE bot = ? AND ref = ?", [bot, ref.description])
        }
        try db.change("UPDATE bots SET patterns = ?, is_returning = 0 WHERE id = ?", [patterns, bot])
    }

    /// Returns `push` if an event waiting for this scan may have meant the ref; otherwise the scan's own cause.
    private func cause(of ref: RefName) -> Cause { claimed?.contains(ref) ?? true ? .push : scan.cause }

    private mutating func baseline(_ ref: RefName) throws {
        let reason = "the tag was there before the bot watched it"
        if movements[ref] != nil {
            if movements[ref]?.outcome != .integrated { decide(ref, .baseline, reason) }
        } else if let update = try current(ref), try update["fate"] == EventOutcome.ignored.rawValue {
            try setOutcome(.baseline, reason, update: try update["id"])
        }
    }

    private mutating func integrate(
        _ ref: RefName, _ head: CommitID, bot: Int64, cause: Cause, isReturning: Bool, _ watcher: Watcher
    ) throws {
        var update = movements[ref]?.rowID
        if update == nil { update = try current(ref)?["id"] }
        let isDone: Bool? = try db.value(
            "SELECT EXISTS (SELECT 1 FROM integrations WHERE bot = ? AND ref_update = ?)",
            [bot, update])
        if isDone == true {
            guard isReturning, try hasOnlyWaited(ref, head, bot: bot) else { return }
            // The canceled integration keeps the update.
            update = nil
        }
        let id: IntegrationID
        if let update, let asked = try askedFor(ref, head, bot: bot, name: watcher.bot, update: update) {
            id = asked
        } else {
            let new = NewIntegration(
                bot: watcher.bot, ref: ref, commit: head, cause: cause, isRelease: watcher.isRelease(ref))
            id = try Store.insert(new, bot: bot, repository: repository, refUpdate: update, at: scan.at, transaction)
            integrations.append(id)
        }
        try Store.supersede(ref, ofBot: bot, by: id, watcher.supersede(ref), at: scan.at, transaction)
        if movements[ref] != nil {
            decide(ref, .integrated, nil)
        } else if let update {
            try setOutcome(.integrated, nil, update: update)
        }
    }

    /// Returns the integration of a moved ref's head that a user asked for before a scan saw the movement, and makes it the one of the movement.
    /// - Returns: `nil` if there is none since the ref's movement before, or it ended without judging the code.
    private func askedFor(
        _ ref: RefName, _ head: CommitID, bot: Int64, name: Name, update: Int64
    ) throws -> IntegrationID? {
        let number: Int? = try db.value(
            """
            UPDATE integrations SET ref_update = ?1 WHERE id = (
                SELECT id FROM integrations WHERE bot = ?2 AND ref = ?3 AND "commit" = ?4 AND cause = 'person'
                AND ref_update IS NULL AND is_skipped = 0 AND removed_at IS NULL
                AND (state <> 'completed' OR verdict NOT IN ('canceled', 'checkout-error', 'internal-error'))
                AND queued_at >= coalesce((SELECT max(at) FROM ref_updates WHERE repository = ?5 AND ref = ?3 AND id <> ?1), 0)
                ORDER BY number DESC LIMIT 1)
            RETURNING number
            """, [update, bot, ref.description, head.description, repository])
        return number.map { IntegrationID(bot: name, number: $0) }
    }

    /// Whether a commit was queued for a bot and never began, because it was canceled while the bot's file was missing.
    private func hasOnlyWaited(_ ref: RefName, _ head: CommitID, bot: Int64) throws -> Bool {
        let hasBegun: Bool? = try db.value(
            """
            SELECT EXISTS (SELECT 1 FROM integrations WHERE bot = ? AND ref = ? AND "commit" = ?
                AND (state <> 'completed' OR verdict <> 'canceled' OR started_at IS NOT NULL OR is_skipped = 1))
            """, [bot, ref.description, head.description])
        return hasBegun != true
    }

    private mutating func decide(_ ref: RefName, _ outcome: EventOutcome, _ reason: String?) {
        movements[ref]?.outcome = outcome
        movements[ref]?.reason = reason
    }

    /// Returns the update of the ref's current generation; `nil` if there is none.
    func current(_ ref: RefName) throws -> StoredRow? {
        try db.row(
            """
            SELECT ref_updates.id, fate FROM ref_updates JOIN refs ON refs.repository = ref_updates.repository
            AND name = ref AND refs.generation = ref_updates.generation WHERE ref_updates.repository = ? AND ref = ?
            """,
            [repository, ref.description])
    }

    private func setOutcome(_ outcome: EventOutcome, _ reason: String?, update: Int64) throws {
        let statement = try db.cachedStatement(sql: "UPDATE ref_updates SET fate = ?, reason = ? WHERE id = ?")
        try statement.execute(arguments: [outcome.rawValue, reason, update])
    }

    private func storeOutcomes() throws {
        for movement in movements.values { try setOutcome(movement.outcome, movement.reason, update: movement.rowID) }
    }
}
