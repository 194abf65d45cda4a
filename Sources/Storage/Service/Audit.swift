import GRDB
package import Model

/// A row of the audit.
package struct AuditRecord: Hashable, Sendable {
    /// Its number. Later rows have higher ones, and none is given twice.
    package var id: Int64
    package var at: Timestamp
    package var entry: AuditEntry
}

/// The rows of the audit that a listing has. A `nil` property leaves out none.
package struct AuditFilter: Hashable, Sendable {
    package var bot: Name?
    package var action: AuditAction?
    package var actor: String?

    package init(bot: Name? = nil, action: AuditAction? = nil, actor: String? = nil) {
        (self.bot, self.action, self.actor) = (bot, action, actor)
    }
}

/// The limits of the audit beside `AuditEntry.usualAge`. The oldest rows beyond either are removed.
package enum AuditLimits {
    /// The most rows; about 60 MB.
    package static let maximumRows = 200_000
}

extension Store {
    /// Appends a row to the audit. It is on the disk when this returns.
    package func record(_ entry: AuditEntry, at time: Timestamp) async throws(StoreError) {
        try await writer.write("record in the audit") { try Self.record(entry, at: time, $0) }
    }

    /// Appends a row to the audit, in the transaction of what it is about.
    static func record(_ entry: AuditEntry, at time: Timestamp, _ transaction: StoreTransaction) throws {
        try transaction.db.change(
            "INSERT INTO audit (at, action, actor, address, bot, subject, detail) VALUES (?, ?, ?, ?, ?, ?, ?)",
            [
                time.millisecondsSinceEpoch, entry.action.rawValue, entry.actor, entry.address,
                entry.bot?.description, entry.subject, entry.detail,
            ])
    }

    /// Returns rows of the audit, the newest first.
    package func audit(
        _ filter: AuditFilter = AuditFilter(), limit: Int = 50, before: Int64? = nil
    ) async throws(StoreError) -> Page<AuditRecord> {
        try await read("list the audit") { db in
            let count = min(max(1, limit), Self.maximumPage)
            let rows = try db.all(
                """
                SELECT * FROM audit WHERE id < ?1 AND (?2 IS NULL OR bot = ?2) AND (?3 IS NULL OR action = ?3)
                AND (?4 IS NULL OR actor = ?4) ORDER BY id DESC LIMIT ?5
                """,
                [
                    before ?? Int64.max, filter.bot?.description, filter.action?.rawValue, filter.actor, count + 1,
                ], Self.auditRow)
            return Page(items: Array(rows.prefix(count)), next: rows.count > count ? rows[count - 1].id : nil)
        }
    }

    /// Removes the oldest rows that are older than `time`, and those beyond `AuditLimits.maximumRows`.
    /// - Parameter maximum: The most rows that stay.
    /// - Returns: The number of removed rows.
    package func trimAudit(
        before time: Timestamp, keeping maximum: Int = AuditLimits.maximumRows
    ) async throws(StoreError) -> Int {
        var total = 0
        while true {
            let count = try await writer.write("remove old rows of the audit") { transaction in
                let db = transaction.db
                // The rows up to the first that is young enough: a row that was written while the clock was wrong removes none after it.
                let young: Int64 =
                    try db.value("SELECT min(id) FROM audit WHERE at >= ?", [time.millisecondsSinceEpoch]) ?? .max
                let surplus: Int64 =
                    try db.value("SELECT id FROM audit ORDER BY id DESC LIMIT 1 OFFSET ?", [maximum]) ?? 0
                try db.change(
                    """
                    DELETE FROM audit WHERE id <= (SELECT max(id) FROM (
                        SELECT id FROM audit WHERE id < ?1 OR id <= ?2 ORDER BY id LIMIT ?3))
                    """, [young, surplus, Self.auditBatch])
                return db.changesCount
            }
            total += count
            if count < Self.auditBatch { return total }
        }
    }

    /// The most rows that one transaction removes.
    private static let auditBatch = 100

    private static func auditRow(_ row: StoredRow) throws -> AuditRecord {
        var entry = AuditEntry(
            try row.value("action") { AuditAction(rawValue: $0) }, actor: try row["actor"],
            address: try row["address"], subject: try row["subject"], detail: try row["detail"])
        entry.bot = try row.optional("bot") { Name($0) }
        return AuditRecord(id: try row["id"], at: try row.time("at"), entry: entry)
    }
}
