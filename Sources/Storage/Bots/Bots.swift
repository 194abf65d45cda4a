import GRDB
package import Model

/// A bot that was registered once. Its row stays when its file is removed, so that its integrations stay readable.
package struct BotRecord: Hashable, Sendable {
    package var name: Name
    /// The repository as the bot's file writes it.
    package var repository: String
    /// Whether the bot's file is gone.
    package var isRetired: Bool
    /// The known state of the bot's repository; `nil` for a retired bot, whose repository is not scanned.
    package var repositoryState: RepositoryRecord?
    /// The newest integration of the default branch; of any branch or tag if the bot has none of that.
    package var latest: IntegrationOutline?

    package init(
        name: Name, repository: String, isRetired: Bool, repositoryState: RepositoryRecord?, latest: IntegrationOutline?
    ) {
        self.name = name
        self.repository = repository
        self.isRetired = isRetired
        self.repositoryState = repositoryState
        self.latest = latest
    }
}

/// A repository that at least one bot watches.
package struct RepositoryRecord: Hashable, Sendable {
    package var url: String
    package var defaultBranch: RefName?
    /// The time of the last successful scan.
    package var lastScan: Timestamp?
    /// Why the latest scan failed, or the problem that keeps bots from integrating after a successful one; `nil` if there is none.
    package var lastError: String?
    /// The number of consecutive scans that failed.
    package var failures: Int
    /// Whether an event requested a scan that has not been made yet.
    package var isScanRequested: Bool
    /// Whether an authentic webhook has ever arrived. If so, polling only makes up for lost webhooks.
    package var hasAuthenticWebhook: Bool
    /// Whether it has a branch or a tag now.
    package var hasHeads: Bool

    /// Whether the latest scan succeeded and found neither branches nor tags: nobody has pushed to it yet.
    package var isEmpty: Bool { lastScan != nil && lastError == nil && !hasHeads }

    package init(
        url: String, defaultBranch: RefName?, lastScan: Timestamp?, lastError: String?, failures: Int,
        isScanRequested: Bool, hasAuthenticWebhook: Bool, hasHeads: Bool
    ) {
        self.url = url
        self.defaultBranch = defaultBranch
        self.lastScan = lastScan
        self.lastError = lastError
        self.failures = failures
        self.isScanRequested = isScanRequested
        self.hasAuthenticWebhook = hasAuthenticWebhook
        self.hasHeads = hasHeads
    }
}

extension Store {
    /// Replaces the registered bots. New bots get a row, missing ones are retired, and a scan is requested of the repository of each new or changed
    /// bot. A bot that returns keeps its numbers and integrations.
    /// - Parameter used: For each bot, the highest integration number that is used outside the database. New integrations get higher numbers.
    ///   Published versions are included automatically.
    /// - Returns: The bots that could not be registered yet, because a deleted bot of their name still has rows.
    @discardableResult
    package func register(
        _ bots: [BotSpecification], used: [Name: Int] = [:], at time: Timestamp
    ) async throws(StoreError) -> [Name] {
        try await writer.write("register \(bots.count) bots") { transaction in
            let db = transaction.db
            let names = try jsonText(bots.map(\.name))
            let gone = try db.all(
                """
                UPDATE bots SET is_retired = 1, retired_at = ? WHERE is_retired = 0
                AND name NOT IN (SELECT value FROM json_each(?)) RETURNING name
                """, [time.millisecondsSinceEpoch, names]
            ) { try $0.name("name") }
            var changes = gone.map { ($0, "its file is gone") }
            let deleted = Set(
                try db.all("SELECT name FROM bots WHERE deleted_at IS NOT NULL") { try $0.name("name") })
            for bot in bots where !deleted.contains(bot.name) {
                if let change = try Self.register(bot, transaction) { changes.append((bot.name, change)) }
                if let number = used[bot.name] { try Self.skip(to: number, of: bot.name, db) }
            }
            for (bot, change) in changes {
                let entry = AuditEntry(
                    .botFile, actor: AuditEntry.service, bot: bot, subject: bot.description, detail: change)
                try Self.record(entry, at: time, transaction)
            }
            if !changes.isEmpty { transaction.changed(.bots) }
            return bots.map(\.name).filter { deleted.contains($0) }
        }
    }

    /// Registers one bot.
    /// - Returns: What changed, in words; `nil` if nothing did.
    private static func register(_ bot: BotSpecification, _ transaction: StoreTransaction) throws -> String? {
        let db = transaction.db
        let specification = try jsonText(StoredSpecification(bot))
        let destinations = try jsonText(bot.destinations)
        let stored = try db.row(
            """
            SELECT bots.id, url, is_retired, specification, destinations FROM bots
            JOIN repositories ON repositories.id = repository WHERE name = ?
            """,
            [bot.name.description])
        if let stored, try stored["specification"] == specification, try stored["destinations"] == destinations,
            try stored["is_retired"] == 0
        {
            return nil
        }
        let wasRetired: Bool = try stored?["is_retired"] ?? false
        let repository = try repositoryRow(bot.repository, db)
        if let stored {
            // The branches of another repository count as never seen before.
            let isMoved = try stored["url"] != bot.repository
            if isMoved {
                try db.change("DELETE FROM watched_refs WHERE bot = ?", [try stored["id"] as Int64])
            }
            try db.change(
                """
                UPDATE bots SET repository = ?, is_retired = 0, retired_at = NULL, specification = ?, destinations = ?,
                    patterns = CASE WHEN ? THEN NULL ELSE patterns END, is_returning = is_returning OR is_retired
                WHERE id = ?
                """, [repository, specification, destinations, isMoved, try stored["id"] as Int64])
        } else {
            try db.change(
                "INSERT INTO bots (name, repository, specification, destinations) VALUES (?, ?, ?, ?)",
                [bot.name.description, repository, specification, destinations])
            // After a database was lost, published versions may have been adopted before this bot had a row.
            let ids = IntegrationID.texts(of: bot.name)
            let published: [String] = try db.values(
                "SELECT integration FROM versions WHERE integration >= ? AND integration < ?",
                [ids.lowerBound, ids.upperBound])
            let numbers = published.compactMap { IntegrationID($0)?.number }.filter { $0 <= maximumUsedNumber }
            if let number = numbers.max() { try skip(to: number, of: bot.name, db) }
            // So may have those of an earlier bot of this name.
            let former: Int? = try db.value(
                "SELECT last_number FROM former_bots WHERE name = ?", [bot.name.description])
            if let former { try skip(to: former, of: bot.name, db) }
        }
        try requestScan(bot.repository, transaction)
        return stored == nil ? "a new bot" : wasRetired ? "its file is back" : "changed"
    }

    /// Gives a bot's next integration a higher number than `number`, which is already used elsewhere.
    static func skip(to number: Int, of bot: Name, _ db: Database) throws {
        try db.change(
            "UPDATE bots SET last_number = ?1 WHERE name = ?2 AND last_number < ?1 AND ?1 <= ?3",
            [number, bot.description, maximumUsedNumber])
    }

    /// The highest used number that is respected; higher ones are ignored. At one integration per millisecond it is reached after 34 years.
    package static let maximumUsedNumber = 1 << 40

    static let botQuery = """
        SELECT bots.name AS name, is_retired, \(repositoryColumns), \(outlineColumns)
        FROM bots JOIN repositories ON repositories.id = bots.repository AND deleted_at IS NULL LEFT JOIN integrations
            ON integrations.id = \(latestOfBot)
        """

    /// Returns every bot that was ever registered and not deleted, by name, including retired ones. It runs one statement, however many bots there
    /// are.
    package func bots() async throws(StoreError) -> [BotRecord] {
        try await read("read the bots") { db in try Self.bots(db) }
    }

    static func bots(_ db: Database) throws -> [BotRecord] {
        let columns = OutlineColumns()
        return try db.all(botQuery + " ORDER BY bots.name") { try bot($0, columns) }
    }

    /// Returns the names of a scope's bots as a JSON list; `nil` from `nil`, which means every bot.
    static func names(in scope: BotScope?, _ db: Database) throws -> String? {
        guard let scope else { return nil }
        let names = try db.all("SELECT name FROM bots ORDER BY name") { try $0.name("name") }
        return try jsonText(names.filter(scope.covers).map(\.description))
    }

    /// Returns one bot, retired or not; `nil` if no bot of this name was ever registered. Other bots are not read.
    package func bot(_ name: Name) async throws(StoreError) -> BotRecord? {
        try await read("read the bot \(name)") { db in try Self.bot(name, db) }
    }

    static func bot(_ name: Name, _ db: Database) throws -> BotRecord? {
        try db.first(botQuery + " WHERE bots.name = ?", [name.description]) { try bot($0, OutlineColumns()) }
    }

    private static func bot(_ row: StoredRow, _ columns: OutlineColumns) throws -> BotRecord {
        let isRetired: Bool = try row["is_retired"]
        return BotRecord(
            name: try row.name("name"), repository: try row["url"], isRetired: isRetired,
            repositoryState: isRetired ? nil : try repository(row),
            latest: try row["id"] as Int64? == nil ? nil : try outline(row, columns))
    }

    /// Returns the last valid specifications of the bots that are not retired, by name. They are used after a restart.
    package func specifications() async throws(StoreError) -> [BotSpecification] {
        try await read("read the bots' last good forms") { db in
            try db.rows("SELECT specification FROM bots WHERE is_retired = 0 ORDER BY name")
                // A specification that an older version stored in another format is skipped; its file is read again anyway.
                .compactMap { row in try? row.specification() }
        }
    }

    /// Returns a bot's last specification, even if its file is gone; `nil` for a bot that never existed.
    static func specification(of bot: Name, _ db: Database) throws -> BotSpecification? {
        try db.first("SELECT specification FROM bots WHERE name = ?", [bot.description]) {
            try $0.specification()
        } ?? nil
    }

    static let repositoryColumns = """
        url, default_branch, last_look, last_error, failures, requested, looked, has_authentic_webhook,
            EXISTS (SELECT 1 FROM refs WHERE refs.repository = repositories.id AND refs.head IS NOT NULL) AS has_heads
        """

    /// Returns the repository with this URL, as the bot's file writes it; `nil` if no bot ever had it.
    package func repository(_ url: String) async throws(StoreError) -> RepositoryRecord? {
        try await read("read the repository \(url)") { db in
            try db.first(
                "SELECT \(Self.repositoryColumns) FROM repositories WHERE url = ?", [url], Self.repository)
        }
    }

    private static func repository(_ row: StoredRow) throws -> RepositoryRecord {
        RepositoryRecord(
            url: try row["url"], defaultBranch: try row.optional("default_branch") { RefName($0) },
            lastScan: try row.optionalTime("last_look"), lastError: try row["last_error"],
            failures: try row["failures"],
            isScanRequested: (try row["requested"] as Int64) > (try row["looked"] as Int64),
            hasAuthenticWebhook: try row["has_authentic_webhook"], hasHeads: try row["has_heads"])
    }

    /// Returns the branches and tags that the last scan saw; empty if there was none.
    package func heads(of repository: String) async throws(StoreError) -> [RefName: CommitID] {
        try await read("read the heads of \(repository)") { db in
            var heads: [RefName: CommitID] = [:]
            let _: [Void] = try db.all(
                """
                SELECT name, head FROM refs WHERE head IS NOT NULL
                AND repository = (SELECT id FROM repositories WHERE url = ?)
                """,
                [repository]
            ) { row in heads[try row.ref("name")] = try row.value("head") { CommitID($0) } }
            return heads
        }
    }

    /// Returns the branches and tags whose tip was a commit in the last scan, in order of name.
    package func refs(at commit: CommitID, of repository: String) async throws(StoreError) -> [RefName] {
        try await read("read which refs of \(repository) are at \(commit.abbreviated)") { db in
            try db.all(
                """
                SELECT name FROM refs WHERE head = ? AND repository = (SELECT id FROM repositories WHERE url = ?)
                ORDER BY name
                """, [commit.description, repository]
            ) { try $0.ref("name") }
        }
    }

    /// Returns the repository's row. Creates it if there is none.
    static func repositoryRow(_ url: String, _ db: Database) throws -> Int64 {
        let row: Int64? = try db.first("SELECT id FROM repositories WHERE url = ?", [url]) { try $0[0] }
        if let row { return row }
        try db.change("INSERT INTO repositories (url) VALUES (?)", [url])
        return db.lastInsertedRowID
    }
}
