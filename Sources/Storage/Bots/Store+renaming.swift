import GRDB
package import Model

/// What a bot has, for the decision to rename or to delete it.
package struct BotContents: Hashable, Sendable {
    /// The number of versions that the bot's integrations published of a product.
    package struct Published: Hashable, Sendable {
        package var product: Name
        package var versions: Int
    }

    package var name: Name
    /// Whether the bot's file is gone.
    package var isRetired: Bool
    package var repository: String
    /// The integrations that are queued or running, oldest first.
    package var open: [IntegrationID]
    /// The number of integrations, with the open ones.
    package var integrations: Int
    /// The number of muted issues.
    package var silences: Int
    /// The versions that stay whatever becomes of the bot.
    package var published: [Published]
}

/// A bot that was renamed and whose files have its former name.
package struct UnsettledName: Hashable, Sendable {
    package var former: Name
    package var bot: Name
}

/// A commit that a mirror holds for an integration.
package struct HeldCommit: Hashable, Sendable {
    package var number: Int
    package var commit: CommitID
    package var repository: String
}

extension Store {
    /// Returns what a bot has; `nil` for a bot that never existed or is deleted.
    package func contents(of bot: Name) async throws(StoreError) -> BotContents? {
        try await read("read what the bot \(bot) has") { db in
            let stored = try db.first(
                """
                SELECT bots.id, is_retired, url FROM bots JOIN repositories ON repositories.id = repository
                WHERE name = ? AND deleted_at IS NULL
                """, [bot.description]
            ) { (id: try $0["id"] as Int64, isRetired: try $0["is_retired"] as Bool, url: try $0["url"] as String) }
            guard let stored else { return nil }
            let ids = IntegrationID.texts(of: bot)
            return BotContents(
                name: bot, isRetired: stored.isRetired, repository: stored.url,
                open: try Self.open(of: bot, row: stored.id, db),
                integrations: try db.value(
                    "SELECT count(*) FROM integrations WHERE bot = ? AND removed_at IS NULL", [stored.id]) ?? 0,
                silences: try db.value("SELECT count(*) FROM silences WHERE bot = ?", [stored.id]) ?? 0,
                published: try db.all(
                    """
                    SELECT product, count(*) AS count FROM versions
                    WHERE integration >= ? AND integration < ? AND state = 'published' GROUP BY product ORDER BY product
                    """, [ids.lowerBound, ids.upperBound]
                ) { BotContents.Published(product: try $0.name("product"), versions: try $0["count"]) })
        }
    }

    private static func open(of bot: Name, row: Int64, _ db: Database) throws -> [IntegrationID] {
        try db.all(
            "SELECT number FROM integrations WHERE bot = ? AND state <> 'completed' ORDER BY number", [row]
        ) { IntegrationID(bot: bot, number: try $0["number"]) }
    }

    /// Returns the row of a bot that has no file and no open integration, so that nothing works on it.
    /// - Throws: `notFound`; `illegalTransition` with the reason.
    static func restingRow(of bot: Name, _ db: Database) throws -> (id: Int64, lastNumber: Int) {
        let stored = try db.first(
            "SELECT id, is_retired, last_number FROM bots WHERE name = ? AND deleted_at IS NULL", [bot.description]
        ) { (id: try $0["id"] as Int64, isRetired: try $0["is_retired"] as Bool, last: try $0["last_number"] as Int) }
        guard let stored else { throw Refusal.notFound("bot \(bot)") }
        guard stored.isRetired else {
            throw Refusal(
                code: .illegalTransition,
                message:
                    "the file of the bot \(bot) is there; move it out of the directory of bot files first, and wait two seconds"
            )
        }
        if let open = try open(of: bot, row: stored.id, db).first {
            throw Refusal(
                code: .illegalTransition,
                message: "\(open) has not ended; cancel it with `martlet cancel \(open)`, or wait for its end")
        }
        return (stored.id, stored.last)
    }

    /// Gives a bot another name, with all its rows. Its files are moved afterwards (`unsettledNames`). The former name leads to the bot from then on,
    /// and a later bot of the former name begins with higher numbers.
    /// - Throws: `notFound`; `illegalTransition` if the bot has a file or an open integration; `exists` if the new name is or was another bot's.
    package func rename(_ bot: Name, to new: Name, at time: Timestamp) async throws(StoreError) {
        try await writer.write("rename the bot \(bot) to \(new)") { transaction in
            let db = transaction.db
            let (row, lastNumber) = try Self.restingRow(of: bot, db)
            // Their directories are found by the bot's name.
            let isRemoving = try db.first(
                "SELECT 1 FROM integrations WHERE bot = ? AND removed_at IS NOT NULL LIMIT 1", [row]
            ) { _ in true }
            guard isRemoving == nil else {
                throw Refusal(
                    code: .illegalTransition,
                    message: "old integrations of \(bot) are just being removed; try again in a minute")
            }
            try Self.requireFree(new, for: row, db)
            try Self.recordFormer(bot, row: row, lastNumber: lastNumber, isSettled: false, at: time, db)
            let (old, name) = (bot.description, new.description)
            try db.change(
                "UPDATE bots SET name = ?2, specification = json_set(specification, '$.name', ?2) WHERE id = ?1",
                [row, name])
            try db.change(
                """
                UPDATE integrations SET specification = json_set(specification, '$.name', ?2)
                WHERE bot = ?1 AND specification IS NOT NULL
                """, [row, name])
            let ids = IntegrationID.texts(of: bot)
            // The manifests of the versions keep the name that the bot had. They never change.
            try db.change(
                "UPDATE versions SET integration = ?1 || substr(integration, ?2) WHERE integration >= ?3 AND integration < ?4",
                [name, old.utf8.count + 1, ids.lowerBound, ids.upperBound])
            let (before, after) = ("integrations/\(old)/", "integrations/\(name)/")
            try db.change(
                """
                UPDATE triggers SET log = ?1 || substr(log, ?2) WHERE substr(log, 1, ?2 - 1) = ?3
                AND integration IN (SELECT id FROM integrations WHERE bot = ?4)
                """, [after, before.utf8.count + 1, before, row])
            for table in ["deliveries", "outbox", "comments"] {
                try db.change("UPDATE \(table) SET bot = ?2 WHERE bot = ?1", [old, name])
            }
            transaction.changed(.bots)
        }
    }

    /// - Throws: `exists` if a bot has the name, or had it before.
    private static func requireFree(_ name: Name, for row: Int64, _ db: Database) throws {
        guard try db.first("SELECT 1 FROM bots WHERE name = ?", [name.description], { _ in true }) == nil else {
            throw Refusal(
                code: .exists,
                message: "there is a bot \(name) already; choose another name, or delete that bot first with "
                    + "`martlet bot \(name) --delete`")
        }
        let former = try db.first("SELECT bot FROM former_bots WHERE name = ?", [name.description]) {
            try $0["bot"] as Int64?
        }
        guard let former else { return }
        guard former == row else {
            throw Refusal(
                code: .exists,
                message: "\(name) was the name of another bot, whose numbers would be used twice; choose another name")
        }
        try db.change("DELETE FROM former_bots WHERE name = ?", [name.description])
    }

    /// Records a name that a bot had.
    /// - Parameter row: The bot that the name leads to; `nil` if the bot is deleted.
    static func recordFormer(
        _ name: Name, row: Int64?, lastNumber: Int, isSettled: Bool, at time: Timestamp, _ db: Database
    ) throws {
        try db.change(
            """
            INSERT INTO former_bots (name, bot, last_number, at, is_settled) VALUES (?1, ?2, ?3, ?4, ?5)
            ON CONFLICT (name) DO UPDATE SET bot = ?2, last_number = max(last_number, ?3), at = ?4, is_settled = ?5
            """, [name.description, row, lastNumber, time.millisecondsSinceEpoch, isSettled])
    }

    /// Returns the present name of the bot that had this name before; `nil` if none had it, or the bot is deleted.
    package func bot(formerly name: Name) async throws(StoreError) -> Name? {
        try await read("read who was \(name)") { db in
            try db.first(
                """
                SELECT bots.name FROM former_bots JOIN bots ON bots.id = former_bots.bot AND deleted_at IS NULL
                WHERE former_bots.name = ?
                """, [name.description]
            ) { try $0.name("name") }
        }
    }

    /// Returns the renamed bots whose files have their former names.
    package func unsettledNames() async throws(StoreError) -> [UnsettledName] {
        try await read("read which bots' files have a former name") { db in
            try db.all(
                """
                SELECT former_bots.name AS former, bots.name AS name FROM former_bots
                JOIN bots ON bots.id = former_bots.bot WHERE is_settled = 0 ORDER BY former_bots.at
                """
            ) { UnsettledName(former: try $0.name("former"), bot: try $0.name("name")) }
        }
    }

    /// Records that a renamed bot's files have its present name.
    package func settle(_ name: UnsettledName) async throws(StoreError) {
        try await writer.write("record that the files of \(name.bot) are moved") { transaction in
            try transaction.db.change(
                "UPDATE former_bots SET is_settled = 1 WHERE name = ?", [name.former.description])
        }
    }

    /// Returns the commits that mirrors hold for a bot's integrations, oldest first.
    package func heldCommits(of bot: Name) async throws(StoreError) -> [HeldCommit] {
        try await read("read the commits of \(bot)") { db in
            try db.all(
                """
                SELECT number, "commit", url FROM integrations JOIN repositories ON repositories.id = integrations.repository
                WHERE bot = (SELECT id FROM bots WHERE name = ?) ORDER BY number
                """, [bot.description]
            ) { row in
                HeldCommit(
                    number: try row["number"], commit: try row.value("commit") { CommitID($0) },
                    repository: try row["url"])
            }
        }
    }
}
