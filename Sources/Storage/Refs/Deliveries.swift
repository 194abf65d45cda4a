import GRDB
package import Model

/// The source of an event.
package enum EventSource: String, Hashable, Sendable, Codable, CaseIterable {
    /// A forge's signed webhook.
    case webhook
    /// A git server's own hook.
    case hook
    case schedule, person, poll
    /// The version of the machine's toolchain has changed.
    case upgrade
}

/// An event's claim about a ref. Only a scan of the repository makes a ref update.
package struct RefClaim: Hashable, Sendable, Codable {
    package var ref: RefName
    /// The commit before the push; `nil` if the event says that the ref was created.
    package var before: CommitID?
    /// The commit after the push; `nil` if the event says that the ref was deleted.
    package var after: CommitID?
    /// It is optional, so that claims stored without it can be decoded.
    private var hasUnknownHead: Bool?

    /// Whether the event says that the ref exists, but not at which commit: GitHub's `create` event does not contain the commit.
    package var isHeadUnknown: Bool { hasUnknownHead ?? false }

    /// - Parameters before, after: Git's all-zero id means "no commit" and is stored as `nil`.
    package init(ref: RefName, before: CommitID?, after: CommitID?) {
        self.ref = ref
        self.before = before.flatMap { $0.isZero ? nil : $0 }
        self.after = after.flatMap { $0.isZero ? nil : $0 }
    }

    /// Returns a claim that a ref was created at an unknown commit.
    package static func head(of ref: RefName) -> RefClaim {
        var claim = RefClaim(ref: ref, before: nil, after: nil)
        claim.hasUnknownHead = true
        return claim
    }
}

/// An event with its outcome.
package struct DeliveryRecord: Hashable, Sendable {
    /// The forge's delivery id, or the row's number if there is none.
    package var id: String
    /// The row's number, which is the cursor of listings.
    package var rowID: Int64
    package var repository: String?
    package var bot: Name?
    package var source: EventSource
    package var hook: String
    package var event: String
    package var receivedAt: Timestamp
    package var claims: [RefClaim]
    package var outcome: EventOutcome
    package var reason: String?
    /// The ref updates that the event announced, or that the scan it requested found.
    package var refUpdates: [RefUpdateRecord]

    package init(
        id: String, rowID: Int64, repository: String?, bot: Name?, source: EventSource, hook: String, event: String,
        receivedAt: Timestamp, claims: [RefClaim], outcome: EventOutcome, reason: String?, refUpdates: [RefUpdateRecord]
    ) {
        self.id = id
        self.rowID = rowID
        self.repository = repository
        self.bot = bot
        self.source = source
        self.hook = hook
        self.event = event
        self.receivedAt = receivedAt
        self.claims = claims
        self.outcome = outcome
        self.reason = reason
        self.refUpdates = refUpdates
    }
}

/// A movement of a ref that a scan saw.
package struct RefUpdateRecord: Hashable, Sendable {
    /// The row's number, which is the cursor of listings.
    package var rowID: Int64
    package var repository: String
    package var ref: RefName
    /// The number of the ref's update, counted from 1. The count continues when the ref is deleted and created again.
    package var generation: Int
    /// The commit that the previous scan saw; `nil` if the ref did not exist.
    package var before: CommitID?
    /// The new commit; `nil` if the ref is gone.
    package var after: CommitID?
    package var outcome: EventOutcome
    package var reason: String?
    /// The integrations that it caused, at most one per bot.
    package var integrations: [IntegrationID]
    /// The time of the scan.
    package var at: Timestamp

    package init(
        rowID: Int64, repository: String, ref: RefName, generation: Int, before: CommitID?, after: CommitID?,
        outcome: EventOutcome, reason: String?, integrations: [IntegrationID], at: Timestamp
    ) {
        self.rowID = rowID
        self.repository = repository
        self.ref = ref
        self.generation = generation
        self.before = before
        self.after = after
        self.outcome = outcome
        self.reason = reason
        self.integrations = integrations
        self.at = at
    }
}

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

    static func pageSize(_ requested: Int) -> Int { min(max(requested, 1), maximumPage) }

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
            outcome: try row.value("fate") { EventOutcome(rawValue: $0) },
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
            outcome: try row.value("fate") { EventOutcome(rawValue: $0) }, reason: try row["reason"],
            integrations: integrations,
            at: try row.time("at"))
    }
}
