import GRDB
package import Model

/// An integration as retention judges it.
package struct RetentionRow: Hashable, Sendable {
    package var id: IntegrationID
    package var run: Int
    /// Whether the integration is queued or running.
    package var isOpen: Bool
    /// The time when the integration ended; if it has not ended, the time when it was queued.
    package var at: Timestamp
    /// The reason why it is kept regardless of the limits; `nil` if the limits decide.
    package var holder: String?
    /// The disk use of its files; `nil` if not measured since its last run.
    package var disk: DiskUse?

    package init(
        id: IntegrationID, run: Int, isOpen: Bool = false, at: Timestamp, holder: String? = nil, disk: DiskUse? = nil
    ) {
        self.id = id
        self.run = run
        self.isOpen = isOpen
        self.at = at
        self.holder = holder
        self.disk = disk
    }
}

/// The disk use of files.
package struct DiskUse: Hashable, Sendable {
    package var bytes: Int64
    /// The number of files, including directories: each of those takes an inode, too.
    package var files: Int64

    package init(bytes: Int64 = 0, files: Int64 = 0) {
        self.bytes = bytes
        self.files = files
    }

    package static func + (left: DiskUse, right: DiskUse) -> DiskUse {
        DiskUse(bytes: left.bytes + right.bytes, files: left.files + right.files)
    }
}

/// The time and the reason of an integration's removal by retention.
package struct Removal: Hashable, Sendable {
    package var at: Timestamp
    /// Such as `older than 90d`.
    package var reason: String
}

/// An integration that is no longer shown and whose rows and files are still to be deleted.
package struct RemovedIntegration: Hashable, Sendable {
    package var id: IntegrationID
    package var rowID: Int64
    /// The repository whose mirror holds its commit.
    package var repository: String
}

extension Store {
    /// The most integrations that one transaction checks and removes. Each takes about ten queries by a key, or 100 µs.
    private static let removalBatch = 10

    /// Returns every bot that was ever registered, with the retention rules of its last specification.
    package func retentions() async throws(StoreError) -> [(bot: Name, retention: Retention?)] {
        try await read("read what is kept of the bots") { db in
            try db.all("SELECT name, specification FROM bots WHERE deleted_at IS NULL ORDER BY name") { row in
                // A specification that an older version stored in another format has no readable retention rules.
                let specification = try? row.specification()
                return (try row.name("name"), specification?.retention)
            }
        }
    }

    /// Returns a bot's integrations as retention judges them, newest first; empty for a bot that never existed.
    package func retentionRows(of bot: Name) async throws(StoreError) -> [RetentionRow] {
        try await read("read what is kept of \(bot)") { db in
            guard let stored = try Self.retentionBot(bot, db) else { return [] }
            var holders = try RetentionHolders(bot: bot, row: stored.id, repository: stored.repository, db)
            return try db.all(
                """
                SELECT \(RetentionHolders.columns) FROM integrations WHERE bot = ? AND removed_at IS NULL ORDER BY number DESC
                """, [stored.id]
            ) { row in
                var disk: DiskUse?
                if try row["disk_run"] as Int? == row["run"] as Int? {
                    disk = DiskUse(bytes: try row["disk_bytes"], files: try row["disk_files"])
                }
                return RetentionRow(
                    id: IntegrationID(bot: bot, number: try row["number"]), run: try row["run"],
                    isOpen: try row["state"] as String != "completed", at: try row.time("at"),
                    holder: try holders.holder(of: row), disk: disk)
            }
        }
    }

    private static func retentionBot(_ bot: Name, _ db: Database) throws -> RegisteredBot? {
        try db.first("SELECT id, repository FROM bots WHERE name = ?", [bot.description]) {
            (id: try $0["id"], repository: try $0["repository"])
        }
    }

    /// Stores the disk use of the files of completed integrations.
    package func recordDiskUse(_ found: [(id: IntegrationID, run: Int, use: DiskUse)]) async throws(StoreError) {
        try await insertBatches("note what integrations take", found) { db, _, one in
            try db.change(
                """
                UPDATE integrations SET disk_run = ?, disk_bytes = ?, disk_files = ?
                WHERE number = ? AND bot = (SELECT id FROM bots WHERE name = ?)
                """, [one.run, one.use.bytes, one.use.files, one.id.number, one.id.bot.description])
        }
    }

    /// Hides integrations of a bot everywhere, with the reason. Their rows, files and held commits are removed later.
    /// - Parameter rows: The integrations as they were judged. An integration that has changed since, or must be kept by now, stays.
    /// - Returns: The hidden integrations.
    package func remove(
        _ rows: [(row: RetentionRow, reason: String)], of bot: Name, at time: Timestamp
    ) async throws(StoreError) -> [IntegrationID] {
        var removed: [IntegrationID] = []
        var rest = rows[...]
        while !rest.isEmpty {
            let batch = Array(rest.prefix(Self.removalBatch))
            rest = rest.dropFirst(batch.count)
            removed += try await writer.write("remove integrations of \(bot)") { transaction in
                guard let stored = try Self.retentionBot(bot, transaction.db) else { return [] }
                var holders = try RetentionHolders(
                    bot: bot, row: stored.id, repository: stored.repository, transaction.db)
                let gone = try batch.filter {
                    try Self.remove($0.row, $0.reason, bot: stored.id, &holders, at: time, transaction)
                }
                if !gone.isEmpty {
                    transaction.changed(.bots)
                    transaction.passes("retention.removed")
                }
                return gone.map(\.row.id)
            }
        }
        return removed
    }

    private static func remove(
        _ row: RetentionRow, _ reason: String, bot: Int64, _ holders: inout RetentionHolders, at time: Timestamp,
        _ transaction: StoreTransaction
    ) throws -> Bool {
        let db = transaction.db
        let stored = try db.row(
            """
            SELECT \(RetentionHolders.columns) FROM integrations
            WHERE bot = ? AND number = ? AND run = ? AND removed_at IS NULL
            """, [bot, row.id.number, row.run])
        guard let stored, try holders.holder(of: stored) == nil else { return false }
        try db.change(
            "UPDATE integrations SET removed_at = ? WHERE id = ?",
            [time.millisecondsSinceEpoch, try stored["id"] as Int64])
        try db.change(
            "INSERT OR REPLACE INTO removals (bot, number, at, reason) VALUES (?, ?, ?, ?)",
            [bot, row.id.number, time.millisecondsSinceEpoch, reason.kept])
        return true
    }

    /// Returns when and why an integration was removed; `nil` if it exists, or never existed.
    package func removal(of id: IntegrationID) async throws(StoreError) -> Removal? {
        try await read("read why \(id) is gone") { db in
            try db.first(
                "SELECT at, reason FROM removals JOIN bots ON bots.id = bot WHERE name = ? AND number = ?",
                [id.bot.description, id.number]
            ) { Removal(at: try $0.time("at"), reason: try $0["reason"]) }
        }
    }

    /// Advances and returns the time up to which ages are counted. A clock that jumps forward moves it by at most `most`.
    /// - Parameters:
    ///   - now: The current time. If it is earlier than the stored time, it replaces it. The first call counts from the end of the newest
    ///     integration.
    ///   - most: The longest step forward.
    package func advanceRetentionClock(to now: Timestamp, atMost most: Duration) async throws(StoreError) -> Timestamp {
        try await writer.write("count what time has passed") { transaction in
            let stored: Timestamp? = try transaction.db.first("SELECT at FROM retention_clock") { try $0.time("at") }
            // Either the existing integrations were stored with a correct clock, or none of them counts as old.
            let newest: Timestamp? = try transaction.db.first(
                "SELECT max(coalesce(ended_at, queued_at)) AS at FROM integrations HAVING count(*) > 0"
            ) { try $0.time("at") }
            let next = min(now, (stored ?? newest).map { $0 + most } ?? now)
            if next != stored {
                try transaction.db.change(
                    "INSERT OR REPLACE INTO retention_clock (id, at) VALUES (1, ?)", [next.millisecondsSinceEpoch])
            }
            return next
        }
    }
}
