import GRDB
import Model

extension Store {
    /// Returns the events, newest first.
    /// - Parameters:
    ///   - limit: The most events to return, at most `maximumPage`.
    ///   - cursor: The `next` of the previous page.
    package func deliveries(limit: Int = 50, before cursor: Int64? = nil) async throws(StoreError)
        -> Page<DeliveryRecord>
    {
        let limit = Self.pageSize(limit)
        return try await read("list the deliveries") { db in
            let rows = try db.rows(
                Self.deliveryQuery + " WHERE deliveries.id < ? ORDER BY deliveries.id DESC LIMIT ?",
                [cursor ?? .max, limit + 1])
            return Self.page(try rows.prefix(limit).map { try Self.delivery($0, db) }, hasMore: rows.count > limit) {
                $0.rowID
            }
        }
    }

    /// Returns the ref updates, newest first. The parameters are those of `deliveries(limit:before:)`.
    package func refUpdates(limit: Int = 50, before cursor: Int64? = nil) async throws(StoreError)
        -> Page<RefUpdateRecord>
    {
        let limit = Self.pageSize(limit)
        return try await read("list the ref updates") { db in
            let rows = try db.rows(
                Self.refUpdateQuery + " WHERE ref_updates.id < ? ORDER BY ref_updates.id DESC LIMIT ?",
                [cursor ?? .max, limit + 1])
            return Self.page(try rows.prefix(limit).map { try Self.refUpdate($0, db) }, hasMore: rows.count > limit) {
                $0.rowID
            }
        }
    }

    static func pageSize(_ wished: Int) -> Int { min(max(wished, 1), maximumPage) }

    static func page<Item>(_ items: [Item], hasMore: Bool, cursor: (Item) -> Int64) -> Page<Item> {
        Page(items: items, next: hasMore ? items.last.map(cursor) : nil)
    }

    static let deliveryQuery = """
        SELECT deliveries.*, url FROM deliveries LEFT JOIN repositories ON repositories.id = deliveries.repository
        """

    static let refUpdateQuery = """
        SELECT ref_updates.*, url FROM ref_updates JOIN repositories ON repositories.id = ref_updates.repository
        """

    static func delivery(rowID: Int64, _ db: Database) throws -> DeliveryRecord {
        guard let row = try db.row(deliveryQuery + " WHERE deliveries.id = ?", [rowID]) else {
            throw Refusal.notFound("delivery \(rowID)")
        }
        return try delivery(row, db)
    }

    static func delivery(_ row: StoredRow, _ db: Database) throws -> DeliveryRecord {
        let rowID: Int64 = try row["id"]
        let updates = try db.all(
            refUpdateQuery
                + " WHERE ref_updates.id IN (SELECT ref_update FROM delivery_updates WHERE delivery = ?) ORDER BY ref_updates.id",
            [rowID]
        ) { try refUpdate($0, db) }
        // The stored reason is kept when the outcome is decided, so what the event waits for is in a column of its own.
        let words = [try row["reason"] as String?, try row["awaited"] as String?].compactMap(\.self)
        let reason = words.isEmpty ? nil : words.joined(separator: "; ")
        return DeliveryRecord(
            id: try row["delivery_id"] ?? String(rowID), rowID: rowID, repository: try row["url"],
            bot: try row.optional("bot") { Name($0) }, source: try row.value("source") { EventSource(rawValue: $0) },
            hook: try row["hook"], event: try row["event"], receivedAt: try row.time("received_at"),
            claims: try row.json("claims", as: [RefClaim].self) ?? [],
            fate: try row.value("fate") { Fate(rawValue: $0) },
            reason: reason,
            refUpdates: updates)
    }

    static func refUpdate(_ row: StoredRow, _ db: Database) throws -> RefUpdateRecord {
        let rowID: Int64 = try row["id"]
        let integrations = try db.all(
            """
            SELECT name, number FROM integrations JOIN bots ON bots.id = bot
            WHERE ref_update IS NOT NULL AND ref_update = ? AND removed_at IS NULL ORDER BY name, number
            """,
            [rowID]
        ) { IntegrationID(bot: try $0.name("name"), number: try $0["number"]) }
        return RefUpdateRecord(
            rowID: rowID, repository: try row["url"], ref: try row.ref("ref"), generation: try row["generation"],
            before: try row.optional("before") { CommitID($0) }, after: try row.optional("after") { CommitID($0) },
            fate: try row.value("fate") { Fate(rawValue: $0) }, reason: try row["reason"],
            integrations: integrations,
            at: try row.time("at"))
    }
}
