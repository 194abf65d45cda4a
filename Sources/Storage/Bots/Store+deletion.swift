import GRDB
package import Model

/// A bot that is deleted and whose rows and files still exist.
package struct DeletedBot: Hashable, Sendable {
    package var rowID: Int64
    package var name: Name
}

extension Store {
    /// The most integrations that one transaction hides. Each takes some queries by a key.
    private static let hidingBatch = 50
    /// The most names of tests that one transaction deletes.
    private static let namesBatch = 500

    /// Deletes a bot: it is shown nowhere from then on. `hideIntegrations` and `forget` remove its rows in batches afterwards.
    ///
    /// Published versions stay. A later bot of the name begins with higher numbers, so that no number is used twice.
    /// - Parameter entry: The row of the audit that is stored with it; `nil` if the caller records it.
    /// - Throws: `notFound`; `illegalTransition` if the bot has a file or an open integration.
    package func delete(_ bot: Name, recording entry: AuditEntry? = nil, at time: Timestamp) async throws(StoreError) {
        try await writer.write("delete the bot \(bot)") { transaction in
            let db = transaction.db
            let (row, lastNumber) = try Self.restingRow(of: bot, db)
            try db.change("UPDATE bots SET deleted_at = ? WHERE id = ?", [time.millisecondsSinceEpoch, row])
            try db.change("DELETE FROM pauses WHERE bot = ?", [row])
            try Self.recordFormer(bot, row: nil, lastNumber: lastNumber, isSettled: true, at: time, db)
            // Earlier names of the bot lead nowhere any more.
            try db.change("UPDATE former_bots SET bot = NULL, is_settled = 1 WHERE bot = ?", [row])
            if let entry { try Self.record(entry, at: time, transaction) }
            transaction.changed(.bots)
        }
    }

    /// Returns the deleted bots that still have rows.
    package func deletedBots() async throws(StoreError) -> [DeletedBot] {
        try await read("read which bots are deleted") { db in
            try db.all("SELECT id, name FROM bots WHERE deleted_at IS NOT NULL ORDER BY id") {
                DeletedBot(rowID: try $0["id"], name: try $0.name("name"))
            }
        }
    }

    /// Returns the bots without a file since before a time, oldest first.
    package func bots(retiredBefore time: Timestamp) async throws(StoreError) -> [Name] {
        try await read("read which bots have been without a file for long") { db in
            try db.all(
                """
                SELECT name FROM bots WHERE is_retired = 1 AND deleted_at IS NULL AND retired_at > 0 AND retired_at < ?
                ORDER BY retired_at
                """, [time.millisecondsSinceEpoch]
            ) { try $0.name("name") }
        }
    }

    /// Hides all integrations of a deleted bot, whatever holds them. Retention then removes their files, rows and held commits.
    package func hideIntegrations(of bot: DeletedBot, at time: Timestamp) async throws(StoreError) {
        var count = Self.hidingBatch
        while count == Self.hidingBatch {
            count = try await writer.write("remove the integrations of \(bot.name)") { transaction in
                let db = transaction.db
                try db.change(
                    """
                    UPDATE integrations SET removed_at = ? WHERE id IN (
                        SELECT integrations.id FROM integrations JOIN bots ON bots.id = bot
                        WHERE bot = ? AND deleted_at IS NOT NULL AND removed_at IS NULL LIMIT ?)
                    """, [time.millisecondsSinceEpoch, bot.rowID, Self.hidingBatch])
                return db.changesCount
            }
        }
    }

    /// Returns the repositories that no bot and no integration names any more.
    package func unusedRepositories() async throws(StoreError) -> [String] {
        try await read("read which repositories are unused") { db in
            try db.values(
                """
                SELECT url FROM repositories WHERE id NOT IN (SELECT repository FROM bots)
                AND id NOT IN (SELECT repository FROM integrations) ORDER BY id
                """)
        }
    }

    /// Deletes the remaining rows of a deleted bot, its own last.
    /// - Returns: Whether they are gone. They stay while the bot has integrations.
    package func forget(_ bot: DeletedBot) async throws(StoreError) -> Bool {
        let operation = "remove what is stored of \(bot.name)"
        let hasIntegrations = try await read(operation) { db in
            try db.first("SELECT 1 FROM integrations WHERE bot = ? LIMIT 1", [bot.rowID]) { _ in true } ?? false
        }
        guard !hasIntegrations else { return false }
        var count = Self.namesBatch
        while count == Self.namesBatch {
            count = try await writer.write(operation) { transaction in
                try transaction.db.change(
                    "DELETE FROM test_names WHERE id IN (SELECT id FROM test_names WHERE bot = ? LIMIT ?)",
                    [bot.rowID, Self.namesBatch])
                return transaction.db.changesCount
            }
        }
        return try await writer.write(operation) { transaction in
            let db = transaction.db
            let isDeleted = try db.first(
                "SELECT 1 FROM bots WHERE id = ? AND deleted_at IS NOT NULL", [bot.rowID]
            ) { _ in true }
            guard isDeleted == true else { return true }
            for table in [
                "watched_refs", "test_profiles", "silences", "pull_silences", "pull_approvals", "standings",
                "schedules", "toolchains", "removals", "newest_of_refs", "pauses",
            ] {
                try db.change("DELETE FROM \(table) WHERE bot = ?", [bot.rowID])
            }
            try db.change("DELETE FROM comments WHERE bot = ?", [bot.name.description])
            try db.change("DELETE FROM bots WHERE id = ?", [bot.rowID])
            transaction.changed(.bots)
            return true
        }
    }
}
