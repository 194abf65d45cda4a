import GRDB
package import Model

extension Store {
    /// Removes a bot's integrations below a number, with all their rows. The bot's counter stays, so that no number is used twice.
    ///
    /// It is for stores whose integrations publish no versions and are caused by no ref updates. It runs one transaction. The names of tests stay.
    /// - Returns: The removed numbers, lowest first.
    @discardableResult
    package func removeIntegrations(of bot: Name, below number: Int) async throws(StoreError) -> [Int] {
        try await writer.write("remove the integrations of \(bot) below \(number)") { transaction in
            let db = transaction.db
            let rows = try db.rows(
                """
                SELECT integrations.id, number FROM integrations JOIN bots ON bots.id = bot
                WHERE bots.name = ? AND number < ? ORDER BY number
                """, [bot.description, number])
            guard !rows.isEmpty else { return [] }
            let ids = try jsonText(try rows.map { try $0["id"] as Int64 })
            let these = "IN (SELECT value FROM json_each(?))"
            for table in ["steps", "findings", "log_places", "test_rows", "test_records", "coverage", "artifacts"] {
                try db.change(
                    "DELETE FROM \(table) WHERE attempt IN (SELECT id FROM attempts WHERE integration \(these))", [ids])
            }
            // Delete the profiles that no record uses any more.
            try db.change(
                """
                DELETE FROM test_profiles WHERE bot = (SELECT id FROM bots WHERE name = ?)
                AND id NOT IN (SELECT profile FROM test_records WHERE profile IS NOT NULL)
                """, [bot.description])
            for table in ["attempts", "issues", "triggers", "reruns"] {
                try db.change("DELETE FROM \(table) WHERE integration \(these)", [ids])
            }
            try db.change("DELETE FROM integrations WHERE id \(these)", [ids])
            transaction.changed(.bots)
            return try rows.map { try $0["number"] as Int }
        }
    }

    /// Returns the integrations that retention removed and whose rows and files still exist, oldest first.
    package func removedIntegrations() async throws(StoreError) -> [RemovedIntegration] {
        try await read("read what retention removes") { db in
            try db.all(
                """
                SELECT integrations.id, number, bots.name AS bot_name, url FROM integrations INDEXED BY integrations_removed
                JOIN bots ON bots.id = bot JOIN repositories ON repositories.id = integrations.repository
                WHERE removed_at IS NOT NULL ORDER BY integrations.id
                """
            ) { row in
                RemovedIntegration(
                    id: IntegrationID(bot: try row.name("bot_name"), number: try row["number"]), rowID: try row["id"],
                    repository: try row["url"])
            }
        }
    }

    /// Deletes all rows of a removed integration, in batches and its own row last: if it is interrupted, the integration stays hidden. It can be
    /// repeated.
    package func deleteRows(of removed: RemovedIntegration) async throws(StoreError) {
        let operation = "remove what is stored of \(removed.id)"
        let row = removed.rowID
        let isRemoved = try await read(operation) { db in
            try db.first("SELECT 1 FROM integrations WHERE id = ? AND removed_at IS NOT NULL", [row]) { _ in true }
        }
        guard isRemoved == true else { return }
        let attempts = try await read(operation) { db in
            try db.all("SELECT id FROM attempts WHERE integration = ?", [row]) { try $0[0] as Int64 }
        }
        for attempt in attempts {
            for table in RowDeletion.ResultTable.allCases {
                try await deleteBatches(operation, .results(table, attempt: attempt))
            }
        }
        try await deleteBatches(operation, .issues(integration: row, set: nil))
        try await writer.write(operation) { transaction in
            let db = transaction.db
            try db.change("UPDATE integrations SET superseded_by = NULL WHERE superseded_by = ?", [row])
            for table in ["attempts", "triggers", "reruns"] {
                try db.change("DELETE FROM \(table) WHERE integration = ?", [row])
            }
            try Self.deleteUnusedProfiles(of: row, db)
            try db.change("DELETE FROM integrations WHERE id = ?", [row])
            transaction.changed(.bots)
            transaction.passes("retention.deleted")
        }
    }

    /// Deletes profiles that no new record can use. The newest profile of a job is kept for the next record. No profile is deleted while an
    /// integration of the bot is open, since it may have read one.
    private static func deleteUnusedProfiles(of integration: Int64, _ db: Database) throws {
        try db.change(
            """
            DELETE FROM test_profiles WHERE bot = (SELECT bot FROM integrations WHERE id = ?)
            AND NOT EXISTS (SELECT 1 FROM test_records WHERE profile = test_profiles.id)
            AND id < (SELECT max(id) FROM test_profiles AS newer WHERE newer.bot = test_profiles.bot AND newer.job = test_profiles.job)
            AND NOT EXISTS (SELECT 1 FROM integrations WHERE state <> 'completed' AND integrations.bot = test_profiles.bot)
            """, [integration])
    }
}
