import GRDB
package import Model

/// The commits that a push brought to a bot's ref and that no integration has judged yet.
package struct PushedRange: Hashable, Sendable {
    /// The commit that was judged last; `nil` if the ref is new.
    package var before: CommitID?
    /// Whether earlier pushes are included, because their integrations ended without judging the code.
    package var hasEarlier: Bool

    package init(before: CommitID?, hasEarlier: Bool) {
        self.before = before
        self.hasEarlier = hasEarlier
    }
}

extension Store {
    /// The most earlier unjudged pushes that a range includes. Only the next integration can find what those pushes changed.
    private static let maximumEarlier = 1000

    /// Returns the range of commits that decides whether a pushed integration is skipped. `nil` for another cause, for a tag, and for a bot's first
    /// integration of a branch, even if a newer one ended that.
    package func pushedRange(of id: IntegrationID) async throws(StoreError) -> PushedRange? {
        try await read("read what was pushed for \(id)") { db in
            let row = try db.row(
                """
                SELECT integrations.bot, integrations.cause, ref_updates.* FROM integrations
                JOIN bots ON bots.id = bot JOIN ref_updates ON ref_updates.id = ref_update
                WHERE name = ? AND number = ?
                """, [id.bot.description, id.number])
            guard let row, try [Cause.push.rawValue, Cause.poll.rawValue].contains(row["cause"] as String),
                try row.ref("ref").branch != nil
            else { return nil }
            var range = PushedRange(before: try row.optional("before") { CommitID($0) }, hasEarlier: false)
            let generation: Int = try row["generation"]
            for earlier in 1...Self.maximumEarlier {
                // An update was not judged if its integration was skipped, superseded, canceled by a user, or ended with an error of our own. Skipped
                // ones count, since `paths` may have changed.
                let update = try db.row(
                    """
                    SELECT ref_updates.before, integrations.cause, is_skipped
                    FROM ref_updates JOIN integrations ON ref_update = ref_updates.id
                    WHERE ref_updates.repository = ? AND ref_updates.ref = ? AND generation = ? AND bot = ?
                    AND verdict IN ('canceled', 'checkout-error', 'internal-error')
                    """,
                    [
                        try row["repository"] as Int64, try row["ref"] as String, generation &- earlier,
                        try row["bot"] as Int64,
                    ])
                guard let update else { return range }
                if try update["cause"] == Cause.baseline.rawValue { return nil }
                range = PushedRange(
                    before: try update.optional("before") { CommitID($0) },
                    hasEarlier: try range.hasEarlier || update["is_skipped"] == 0)
            }
            return nil
        }
    }

    /// Cancels an integration that is skipped, before any of it runs. Its ref update and the events that announced it get the same reason, unless
    /// another bot integrates them.
    /// - Throws: `illegalTransition` without storing a change if it is completed; `notFound`.
    package func skip(
        _ id: IntegrationID, reason: String, commit: CommitSummary, at time: Timestamp
    ) async throws(StoreError) {
        try await writer.write("skip \(id)") { transaction in
            let db = transaction.db
            var record = try Self.integration(id, db)
            try Self.describe(record.rowID, commit, db)
            record.isSkipped = true
            record = try Self.apply(
                .completed(.canceled, triggerFailed: false), to: record, at: time, reason: reason, transaction)
            try Self.decide(.skipped, reason, of: record, transaction)
        }
    }

    /// Stores the commit's summary of an integration that ends before its recipe is known.
    /// - Throws: `notFound`.
    package func describe(_ id: IntegrationID, commit: CommitSummary) async throws(StoreError) {
        try await writer.write("store the commit of \(id)") { transaction in
            try Self.describe(try Self.integrationRow(id, transaction.db), commit, transaction.db)
            transaction.changed(.integration(id))
        }
    }

    private static func describe(_ row: Int64, _ commit: CommitSummary, _ db: Database) throws {
        try db.change(
            "UPDATE integrations SET subject = ?, author = ?, committed_at = ?, tree = ? WHERE id = ?",
            [
                commit.subject.kept, commit.author.kept, commit.committedAt.millisecondsSinceEpoch, commit.tree, row,
            ])
    }
}
