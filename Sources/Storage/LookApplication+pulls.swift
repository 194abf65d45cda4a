import GRDB
import Model

extension LookApplication {
    /// What became of a pull request in this look.
    struct PullFate {
        var fate: Fate
        var reason: String?
        /// The update of its head, from this look or the last that saw it move; `nil`: the newest update of `ref`, which is read when an event
        /// asks.
        var update: Int64?
        var ref: RefName?
        /// `nil` if the repository does not list it.
        var head: CommitID?
    }

    /// The bots that look for the first time, or by other patterns than before: for them all that is open is new.
    func botsThatWatchAnew() throws -> Set<Name> {
        let bots = try look.watchers.filter { watcher in
            try db.first(
                "SELECT CASE WHEN is_returning THEN NULL ELSE patterns END FROM bots WHERE name = ?",
                [watcher.bot.description]
            ) { try $0[0] as String? } != watcher.patterns
        }
        return Set(bots.map(\.bot))
    }

    /// Looks at each open pull request that was asked for. Only what this look lists decides whose it is.
    mutating func lookAtPulls(anew: Set<Name>) throws {
        let rows = try db.all(
            """
            SELECT * FROM \(Store.openPullRequests) WHERE repository = ? AND is_open = 1
            ORDER BY number DESC LIMIT \(Store.maximumOpenPulls)
            """, [repository], Store.pullRequest)
        branches = Dictionary(
            look.heads.lazy.filter { $0.key.branch != nil }.map { ($0.value, $0.key) }, uniquingKeysWith: min)
        for pull in rows.reversed() {
            // A pull request that an event announced after the look began belongs to the next.
            guard look.asked.contains(pull.place) || look.heads[pull.place] != nil else { continue }
            try lookAt(pull, anew)
        }
    }

    private mutating func lookAt(_ known: PullRequestRecord, _ anew: Set<Name>) throws {
        guard let head = look.others[known.place] ?? look.heads[known.place] else { return try miss(known) }
        var pull = known
        (pull.head, pull.source) = (head, source(of: head, at: pull.place))
        let isMoved = known.head != head
        if !isMoved, let judged = look.judged[pull.number], judged.head == head, judged.tip == look.heads[pull.base] {
            if judged.isMerged { return try close(pull, "its head is in \(pull.base.shortName) by now") }
            pull.judgedTip = judged.tip
        }
        // Each look determines the owner again: if a fork's head is by now the head of a branch, somebody who may push has adopted it.
        let isAdopted = !isMoved && known.source == nil && pull.source != nil
        let watchers = look.watchers.filter {
            isMoved || known.hasChanged || isAdopted || anew.contains($0.bot)
        }
        if isMoved { pull.generation += 1 }
        if isMoved || known.hasChanged { (pull.baseTip, pull.judgedTip) = (look.heads[pull.base], nil) }
        pull.hasChanged = known.hasChanged && watchers.isEmpty
        pull.missingSince = nil
        if pull != known { try store(pull, isMoved: isMoved) }
        guard isMoved || !watchers.isEmpty else {
            pulls[pull.number] = PullFate(fate: .duplicate, reason: "this was known already", ref: pull.ref, head: head)
            return
        }
        var fate = PullFate(fate: .ignored, reason: "no bot of the repository integrates it", head: head)
        if isMoved {
            fate.update = try move(pull, from: known.head, to: head)
        } else {
            fate.update = try newestUpdate(of: pull.ref)
        }
        for watcher in watchers {
            guard
                let decided = try queue(
                    pull, for: watcher, update: isMoved ? fate.update : nil, isNew: isMoved && known.head != nil,
                    isAdopted: isAdopted)
            else { continue }
            if Self.rank(decided.fate) < Self.rank(fate.fate) || fate.fate == .ignored {
                (fate.fate, fate.reason) = decided
            }
        }
        if isMoved {
            movements[pull.ref]?.fate = fate.fate
            movements[pull.ref]?.reason = fate.reason
        }
        pulls[pull.number] = fate
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
                pull.missingSince?.millisecondsSinceEpoch, isMoved, look.at.millisecondsSinceEpoch,
            ])
    }

    private static func rank(_ fate: Fate) -> Int {
        [.integrated, .duplicate, .refused].firstIndex(of: fate) ?? 3
    }

    /// The branch whose tip it is in this very look. Where it is looked for goes first, then the first by name.
    private func source(of head: CommitID, at place: RefName) -> RefName? {
        if place.branch != nil, look.heads[place] == head { return place }
        return branches[head]
    }

    /// Pull requests are no refs of the bot's own: their heads are never among those that a person or a schedule can mean.
    private mutating func move(_ pull: PullRequestRecord, from old: CommitID?, to new: CommitID) throws -> Int64 {
        try db.change(
            """
            INSERT INTO ref_updates (repository, ref, generation, before, after, fate, reason, at)
            VALUES (?, ?, ?, ?, ?, 'ignored', NULL, ?)
            """,
            [
                repository, pull.ref.description, pull.generation, old?.description, new.description,
                look.at.millisecondsSinceEpoch,
            ])
        let update = db.lastInsertedRowID
        movements[pull.ref] = Movement(rowID: update, before: old, after: new)
        return update
    }

    /// The update that saw a ref move last; `nil` if there is none.
    func newestUpdate(of ref: RefName) throws -> Int64? {
        try db.first(
            "SELECT id FROM ref_updates WHERE repository = ? AND ref = ? ORDER BY generation DESC LIMIT 1",
            [repository, ref.description]
        ) { try $0[0] }
    }

    /// - Parameters:
    ///   - update: The update of the head, if it moved in this look.
    ///   - isNew: Whether it moved there from another commit.
    ///   - isAdopted: Whether it was a fork's until this look.
    /// - Returns: The outcome for this bot; `nil` for a pull request that is gone.
    private mutating func queue(
        _ pull: PullRequestRecord, for watcher: Watcher, update: Int64?, isNew: Bool, isAdopted: Bool
    ) throws -> (fate: Fate, reason: String?)? {
        let row: Int64? = try db.first(
            "SELECT id FROM bots WHERE name = ? AND repository = ? AND is_retired = 0",
            [watcher.bot.description, repository]
        ) { try $0[0] }
        guard let bot = row, let seen = pull.seen else { return nil }
        let answer = watcher.answer(seen)
        if case .refuses(let reason) = answer { return (.ignored, reason) }
        guard let tip = look.heads[pull.base] else {
            return (.ignored, "the repository has no branch \(pull.base.shortName), into which it is to go")
        }
        let approver = try Store.approver(of: seen, bot: bot, db)
        if answer == .awaitsApproval, approver == nil {
            return (.refused, Store.awaitsApproval(seen, bot: watcher.bot))
        }
        // It was reopened, announced after it was forgotten, or a bot asks again: its earlier outcome still holds.
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
            new, bot: bot, repository: repository, refUpdate: update, at: look.at, transaction)
        integrations.append(id)
        try Store.supersede(ref, ofBot: bot, by: id, watcher.supersede(ref), at: look.at, transaction)
        return (.integrated, nil)
    }

    /// Ends what waits of pull requests that are closed. What a person asked for is left alone.
    /// - Returns: What runs of them.
    func endClosedPulls() throws -> [LookOutcome.ClosedIntegration] {
        let open = try db.all(
            // By the index of open pull requests, which stays small, and not by that of all pull requests, which keeps growing.
            Store.integrationQuery + """
                 WHERE integrations.id IN (
                    SELECT open.id FROM integrations AS open INDEXED BY integrations_open
                    CROSS JOIN pull_requests AS pulls ON pulls.repository = open.repository
                        AND pulls.number = open.pull_request
                    WHERE open.state <> 'completed' AND open.repository = ? AND pulls.is_open = 0 AND open.run = 1)
                """, [repository], Store.integration)
        var running: [LookOutcome.ClosedIntegration] = []
        for record in open {
            let reason = "pull request \(record.pull?.number ?? 0) was closed"
            guard record.state == .queued else {
                // Until it has its end nobody takes it for what the pull request came to.
                try db.change("UPDATE integrations SET ending_run = run WHERE id = ?", [record.rowID])
                running.append(.init(id: record.id, run: record.run, reason: reason))
                continue
            }
            _ = try Store.apply(
                .completed(.canceled, triggerFailed: false), to: record, at: look.at, reason: reason, transaction)
        }
        return running
    }
}
