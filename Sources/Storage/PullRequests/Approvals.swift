import GRDB
package import Model

/// The result of an operator's approval.
package enum PullRequestApproval: Hashable, Sendable {
    /// The approval let this integration begin.
    case queued(IntegrationRecord)
    /// The integration ran, or runs, without needing the approval. It counts as approved from its next run on.
    case noted(IntegrationRecord)
    /// No event announced such a pull request, or no scan has found its head.
    case unknown
    case closed
    /// The pull request's head is another commit than the approved one.
    case moved(to: String)
    /// The bot does not integrate the pull request at all; the text is the reason.
    case refused(String)
}

extension Store {
    /// The most approvals of one pull request that are stored; the newest are kept.
    static let maximumApprovals = 100

    /// Returns the tip of a branch in the last scan; `nil` if the branch does not exist.
    private static func tip(of branch: RefName, _ repository: Int64, _ db: Database) throws -> CommitID? {
        try db.first(
            "SELECT head FROM refs WHERE repository = ? AND name = ? AND head IS NOT NULL",
            [repository, branch.description]
        ) { try $0.value("head") { CommitID($0) } }
    }

    /// Stores that an operator approves one head of a pull request for its current base. Queues its integration and records the event. Another head,
    /// or another base, needs approval again, even if the pull request was closed and reopened.
    /// - Parameters:
    ///   - supersede: The earlier integrations of the pull request that this one ends.
    ///   - answer: The bot's decision about the pull request.
    ///   - event: Returns the event to record, with the operator's name.
    /// - Throws: `notFound` if no such bot is registered, or it is retired.
    package func approve(
        _ number: Int, of bot: Name, head: CommitID, by actor: String,
        supersede: BotSpecification.Supersede, at time: Timestamp,
        answer: @escaping @Sendable (SeenPullRequest, _ defaultBranch: RefName?) -> PullRequestAnswer,
        recording event: @escaping @Sendable (IntegrationRecord) -> NewEvent
    ) async throws(StoreError) -> PullRequestApproval {
        try await writer.write("approve \(bot)!\(number)") { transaction in
            let db = transaction.db
            let row = try db.first(
                """
                SELECT bots.id, repository, default_branch FROM bots JOIN repositories ON repositories.id = repository
                WHERE name = ? AND is_retired = 0
                """, [bot.description]
            ) { row in
                (
                    bot: try row["id"] as Int64, repository: try row["repository"] as Int64,
                    main: try row.optional("default_branch") { RefName($0) }
                )
            }
            guard let row else { throw Refusal.notFound("bot \(bot)") }
            let found = try db.first(
                "SELECT * FROM pull_requests WHERE repository = ? AND number = ?", [row.repository, number],
                Self.pullRequest)
            guard var pull = found else { return .unknown }
            // If the last scan did not find the head, a branch that has left the head must not make its author trusted.
            if let source = pull.source, try Self.tip(of: source, row.repository, db) != pull.head { pull.source = nil }
            guard let seen = pull.seen else { return .unknown }
            guard pull.isOpen else { return .closed }
            guard seen.head == head else { return .moved(to: seen.head.description) }
            if case .refuses(let reason) = answer(seen, row.main) { return .refused(reason) }
            try db.change(
                "INSERT OR REPLACE INTO pull_approvals (bot, number, base, head, person, at) VALUES (?, ?, ?, ?, ?, ?)",
                [row.bot, number, seen.base.description, head.description, actor.kept, time.millisecondsSinceEpoch])
            try db.change(
                """
                DELETE FROM pull_approvals WHERE bot = ?1 AND number = ?2 AND (base, head) IN (
                    SELECT base, head FROM pull_approvals WHERE bot = ?1 AND number = ?2
                    ORDER BY at DESC, head LIMIT -1 OFFSET \(Self.maximumApprovals))
                """, [row.bot, number])
            if let done = try Self.integration(of: seen, bot: row.bot, db) {
                try db.change("UPDATE integrations SET approved_by = ? WHERE id = ?", [actor.kept, done.rowID])
                transaction.changed(.integration(done.id))
                return .noted(try Self.integration(done.id, db))
            }
            let tip = try Self.tip(of: seen.base, row.repository, db)
            guard let tip else { return .refused("the repository has no branch \(seen.base.shortName)") }
            let ref = RefName(pullRequest: number)
            let new = NewIntegration(
                bot: bot, ref: ref, commit: head, cause: .pull, requestedBy: actor,
                pull: IntegratedPullRequest(
                    number: number, place: pull.place, base: seen.base, baseCommit: tip, head: head,
                    source: seen.source, approvedBy: actor))
            let update = try Self.waitingUpdate(
                of: pull, bot: row.bot, row.repository, because: "its head was approved", transaction)
            let id = try Self.insert(
                new, bot: row.bot, repository: row.repository, refUpdate: update, at: time, transaction)
            try Self.supersede(ref, ofBot: row.bot, by: id, supersede, at: time, transaction)
            transaction.passes("pull.approved")
            let record = try Self.integration(id, db)
            _ = try Self.record(event(record), transaction)
            return .queued(record)
        }
    }

    /// Returns the update of a head that waited or was refused and is now integrated. The outcomes of the update and of its events are set to
    /// `integrated`.
    /// - Parameter reason: The reason stored with the events: what has changed.
    /// - Returns: `nil` if the bot has integrated the update before.
    static func waitingUpdate(
        of pull: PullRequestRecord, bot: Int64, _ repository: Int64, because reason: String,
        _ transaction: StoreTransaction
    ) throws -> Int64? {
        let db = transaction.db
        let update: Int64? = try db.first(
            """
            SELECT id FROM ref_updates WHERE repository = ?1 AND ref = ?2 AND generation = ?3
            AND NOT EXISTS (SELECT 1 FROM integrations WHERE bot = ?4 AND ref_update = ref_updates.id)
            """, [repository, pull.ref.description, pull.generation, bot]
        ) { try $0[0] }
        guard let update else { return nil }
        try db.change(
            "UPDATE ref_updates SET fate = 'integrated', reason = NULL WHERE id = ? AND fate IN ('refused', 'ignored')",
            [update])
        let deliveries: [Int64] = try db.all(
            """
            UPDATE deliveries SET fate = 'integrated', reason = ?2 WHERE fate IN ('refused', 'ignored')
            AND id IN (SELECT delivery FROM delivery_updates WHERE ref_update = ?1) RETURNING id
            """, [update, reason]
        ) { try $0[0] }
        for delivery in deliveries { transaction.changed(.delivery(rowID: delivery)) }
        return update
    }
}
