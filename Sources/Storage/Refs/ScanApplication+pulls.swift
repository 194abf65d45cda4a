import GRDB
import Model

extension ScanApplication {
    /// The outcome of a scan for one pull request.
    struct PullOutcome {
        var outcome: EventOutcome
        var reason: String?
        /// The update that recorded the head, from this scan or the last one that saw it move. If `nil`, the newest update of `ref` is read when an
        /// event needs it.
        var update: Int64?
        var ref: RefName?
        /// `nil` if the repository does not list it.
        var head: CommitID?
    }

    /// Returns the bots that scan for the first time, after a return, or with other patterns than before. All open pull requests are new to them.
    func botsThatWatchAnew() throws -> Set<Name> {
        let bots = try scan.watchers.filter { watcher in
            try db.first(
                "SELECT CASE WHEN is_returning THEN NULL ELSE patterns END FROM bots WHERE name = ?",
                [watcher.bot.description]
            ) { try $0[0] as String? } != watcher.patterns
        }
        return Set(bots.map(\.bot))
    }

    /// Checks each open pull request that was requested. Only what this scan lists decides whose pull request it is.
    mutating func scanPulls(anew: Set<Name>) throws {
        let rows = try db.all(
            """
            SELECT * FROM \(Store.openPullRequests) WHERE repository = ? AND is_open = 1
            ORDER BY number DESC LIMIT \(Store.maximumOpenPulls)
            """, [repository], Store.pullRequest)
        branches = Dictionary(
            scan.heads.lazy.filter { $0.key.branch != nil }.map { ($0.value, $0.key) }, uniquingKeysWith: min)
        for pull in rows.reversed() {
            // A pull request that an event announced after the scan began belongs to the next scan.
            guard scan.asked.contains(pull.place) || scan.heads[pull.place] != nil else { continue }
            try scanPull(pull, anew)
        }
    }

    private mutating func scanPull(_ known: PullRequestRecord, _ anew: Set<Name>) throws {
        guard let head = scan.others[known.place] ?? scan.heads[known.place] else { return try miss(known) }
        var pull = known
        (pull.head, pull.source) = (head, source(of: head, at: pull.place))
        let isMoved = known.head != head
        if !isMoved, let judged = scan.judged[pull.number], judged.head == head, judged.tip == scan.heads[pull.base] {
            if judged.isMerged { return try close(pull, "its head is in \(pull.base.shortName) by now") }
            pull.judgedTip = judged.tip
        }
        // Each scan determines the owner again: if a fork's head has become the head of a branch, somebody who may push has adopted it.
        let isAdopted = !isMoved && known.source == nil && pull.source != nil
        let watchers = scan.watchers.filter {
            isMoved || known.hasChanged || isAdopted || anew.contains($0.bot)
        }
        if isMoved { pull.generation += 1 }
        if isMoved || known.hasChanged { (pull.baseTip, pull.judgedTip) = (scan.heads[pull.base], nil) }
        pull.hasChanged = known.hasChanged && watchers.isEmpty
        pull.missingSince = nil
        if pull != known { try store(pull, isMoved: isMoved) }
        guard isMoved || !watchers.isEmpty else {
            pulls[pull.number] = PullOutcome(
                outcome: .duplicate, reason: "this was known already", ref: pull.ref, head: head)
            return
        }
        var outcome = PullOutcome(outcome: .ignored, reason: "no bot of the repository integrates it", head: head)
        if isMoved {
            outcome.update = try move(pull, from: known.head, to: head)
        } else {
            outcome.update = try newestUpdate(of: pull.ref)
        }
        for watcher in watchers {
            guard
                let decided = try queue(
                    pull, for: watcher, update: isMoved ? outcome.update : nil, isNew: isMoved && known.head != nil,
                    isAdopted: isAdopted)
            else { continue }
            if Self.rank(decided.outcome) < Self.rank(outcome.outcome) || outcome.outcome == .ignored {
                (outcome.outcome, outcome.reason) = decided
            }
        }
        if isMoved {
            movements[pull.ref]?.outcome = outcome.outcome
            movements[pull.ref]?.reason = outcome.reason
        }
        pulls[pull.number] = outcome
    }

    private func store(_ pull: PullRequestRecord, isMoved: Bool) throws {
        try db.change(
            """
            UPDATE pull_requests SET head = ?3, source = ?4, generation = ?5, has_changed = ?6, base_tip = ?7,
                judged_tip = ?8, missing_since = ?9, moved_at = CASE WHEN ?10 THEN ?11 ELSE moved_at END
            WHERE repository = ?1 AND number = ?2
            """,
            [
                repository, pull.number, pull.head?.description, pull.source?.description, pull.generation,
                pull.hasChanged, pull.baseTip?.description, pull.judgedTip?.description,
                pull.missingSince?.millisecondsSinceEpoch, isMoved, scan.at.millisecondsSinceEpoch,
            ])
    }

    private static func rank(_ outcome: EventOutcome) -> Int {
        [.integrated, .duplicate, .refused].firstIndex(of: outcome) ?? 3
    }

    /// Returns the branch whose tip is `head` in this scan: `place` if it is one of them, otherwise the first by name. `nil` if there is none.
    private func source(of head: CommitID, at place: RefName) -> RefName? {
        if place.branch != nil, scan.heads[place] == head { return place }
        return branches[head]
    }

    /// Records that a head moved. Pull requests are not in `refs`, so a user or a schedule cannot select their heads as refs.
    private mutating func move(_ pull: PullRequestRecord, from old: CommitID?, to new: CommitID) throws -> Int64 {
        try db.change(
            """
            INSERT INTO ref_updates (repository, ref, generation, before, after, fate, reason, at)
            VALUES (?, ?, ?, ?, ?, 'ignored', NULL, ?)
            """,
            [
                repository, pull.ref.description, pull.generation, old?.description, new.description,
                scan.at.millisecondsSinceEpoch,
            ])
        let update = db.lastInsertedRowID
        movements[pull.ref] = Movement(rowID: update, before: old, after: new)
        return update
    }

    /// Returns the update that last saw a ref move; `nil` if there is none.
    func newestUpdate(of ref: RefName) throws -> Int64? {
        try db.first(
            "SELECT id FROM ref_updates WHERE repository = ? AND ref = ? ORDER BY generation DESC LIMIT 1",
            [repository, ref.description]
        ) { try $0[0] }
    }

    /// Queues an integration of a pull request for one bot.
    /// - Parameters:
    ///   - update: The update of the head, if it moved in this scan; otherwise its newest update.
    ///   - isNew: Whether the head moved from another commit in this scan.
    ///   - isAdopted: Whether the head belonged to a fork until this scan.
    /// - Returns: The outcome for this bot; `nil` if the bot or the pull request's head no longer exists.
    private mutating func queue(
        _ pull: PullRequestRecord, for watcher: Watcher, update: Int64?, isNew: Bool, isAdopted: Bool
    ) throws -> (outcome: EventOutcome, reason: String?)? {
        let row: Int64? = try db.first(
            "SELECT id FROM bots WHERE name = ? AND repository = ? AND is_retired = 0",
            [watcher.bot.description, repository]
        ) { try $0[0] }
        guard let bot = row, let seen = pull.seen else { return nil }
        let answer = watcher.answer(seen)
        if case .refuses(let reason) = answer { return (.ignored, reason) }
        guard let tip = scan.heads[pull.base] else {
            return (.ignored, "the repository has no branch \(pull.base.shortName), into which it is to go")
        }
        let approver = try Store.approver(of: seen, bot: bot, db)
        if answer == .awaitsApproval, approver == nil {
            return (.refused, Store.awaitsApproval(seen, bot: watcher.bot))
        }
        // The pull request was reopened, or announced after it was forgotten, or a bot queries it again: its earlier outcome still holds.
        if !isNew, let done = try Store.integration(of: seen, bot: bot, db) {
            return (.duplicate, "it was integrated already: \(done.id)")
        }
        var update = update
        if update == nil, isAdopted, let source = pull.source {
            update = try Store.waitingUpdate(
                of: pull, bot: bot, repository, because: "its head is the tip of \(source.shortName) by now",
                transaction)
        }
        let ref = RefName(pullRequest: pull.number)
        let new = NewIntegration(
            bot: watcher.bot, ref: ref, commit: seen.head, cause: .pull,
            pull: IntegratedPullRequest(
                number: pull.number, place: pull.place, base: pull.base, baseCommit: tip, head: seen.head,
                source: seen.source, approvedBy: approver))
        let id = try Store.insert(
            new, bot: bot, repository: repository, refUpdate: update, at: scan.at, transaction)
        integrations.append(id)
        try Store.supersede(ref, ofBot: bot, by: id, watcher.supersede(ref), at: scan.at, transaction)
        return (.integrated, nil)
    }

    /// Cancels the queued integrations of closed pull requests. Integrations that a user requested are left alone.
    /// - Returns: The running integrations of closed pull requests.
    func endClosedPulls() throws -> [ScanOutcome.ClosedIntegration] {
        let open = try db.all(
            // The query uses the index of open integrations, which stays small. The index of all pull requests keeps growing.
            Store.integrationQuery + """
                 WHERE integrations.id IN (
                    SELECT open.id FROM integrations AS open INDEXED BY integrations_open
                    CROSS JOIN pull_requests AS pulls ON pulls.repository = open.repository
                        AND pulls.number = open.pull_request
                    WHERE open.state <> 'completed' AND open.repository = ? AND pulls.is_open = 0 AND open.run = 1)
                """, [repository], Store.integration)
        var running: [ScanOutcome.ClosedIntegration] = []
        for record in open {
            let reason = "pull request \(record.pull?.number ?? 0) was closed"
            guard record.state == .queued else {
                // The running integration is marked as ending, so that it does not count as the pull request's outcome before it has ended.
                try db.change("UPDATE integrations SET ending_run = run WHERE id = ?", [record.rowID])
                running.append(.init(id: record.id, run: record.run, reason: reason))
                continue
            }
            _ = try Store.apply(
                .completed(.canceled, triggerFailed: false), to: record, at: scan.at, reason: reason, transaction)
        }
        return running
    }
}
