import GRDB
package import Model

extension Store {
    /// Removes a bot's integrations below a number, with all rows that belong to them. The bot's counter stays, so that no
    /// number is used again.
    ///
    /// For a store whose integrations publish nothing and are caused by no ref update. One transaction. The names of tests stay.
    /// - Returns: The numbers of those removed, lowest first.
    @discardableResult
    package func removeIntegrations(of bot: Name, below number: Int) async throws(StoreError) -> [Int] {
        try await lane.write("remove the integrations of \(bot) below \(number)") { transaction in
            let db = transaction.db
            let rows = try Row.fetchAll(
                db,
                sql: """
                    SELECT integrations.id, number FROM integrations JOIN bots ON bots.id = bot
                    WHERE bots.name = ? AND number < ? ORDER BY number
                    """, arguments: [bot.description, number])
            guard !rows.isEmpty else { return [] }
            let ids = try jsonText(rows.map { $0["id"] as Int64 })
            let these = "IN (SELECT value FROM json_each(?))"
            for table in ["steps", "findings", "test_rows", "test_records", "coverage", "artifacts"] {
                try db.execute(
                    sql: "DELETE FROM \(table) WHERE attempt IN (SELECT id FROM attempts WHERE integration \(these))",
                    arguments: [ids])
            }
            // What no record is written against any more.
            try db.execute(
                sql: """
                    DELETE FROM test_profiles WHERE bot = (SELECT id FROM bots WHERE name = ?)
                    AND id NOT IN (SELECT profile FROM test_records WHERE profile IS NOT NULL)
                    """, arguments: [bot.description])
            for table in ["attempts", "issues", "triggers", "reruns"] {
                try db.execute(sql: "DELETE FROM \(table) WHERE integration \(these)", arguments: [ids])
            }
            try db.execute(sql: "DELETE FROM integrations WHERE id \(these)", arguments: [ids])
            transaction.changed(.bots)
            return rows.map { $0["number"] as Int }
        }
    }
}
