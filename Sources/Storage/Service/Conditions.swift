import GRDB
package import Model

/// A trouble that an operator hears of, with what was sent about it.
package struct ConditionRecord: Hashable, Sendable {
    /// The row; `nil` until it could be stored, as while the disk is full.
    package var id: Int64?
    package var condition: ServiceCondition
    package var begunAt: Timestamp
    /// `nil` while it lasts.
    package var endedAt: Timestamp?
    /// When the messages that it began and that it is over were sent, by the way of sending.
    package var told: [Channel: Told]

    /// A way of sending.
    package enum Channel: String, Hashable, Sendable, CaseIterable { case mail, webhook }

    /// The messages of one channel; `nil`: not sent.
    package struct Told: Hashable, Sendable {
        package var begin: Timestamp?
        package var end: Timestamp?

        package init(begin: Timestamp? = nil, end: Timestamp? = nil) { (self.begin, self.end) = (begin, end) }
    }

    package init(
        id: Int64? = nil, _ condition: ServiceCondition, begunAt: Timestamp, endedAt: Timestamp? = nil,
        told: [Channel: Told] = [:]
    ) {
        (self.id, self.condition, self.begunAt, self.endedAt, self.told) = (id, condition, begunAt, endedAt, told)
    }
}

extension Store {
    /// How long a trouble that is over is kept.
    package static let conditionAge: Duration = .seconds(90 * 86_400)
    /// How long a message that a trouble is over may be sent late.
    private static let lateness: Duration = .seconds(7 * 86_400)

    /// Returns the troubles that last, and those that ended in the last week.
    package func conditions(at time: Timestamp) async throws(StoreError) -> [ConditionRecord] {
        try await read("list the troubles") { db in
            let since = (time + (.zero - Self.lateness)).millisecondsSinceEpoch
            return try db.all(
                "SELECT * FROM conditions WHERE ended_at IS NULL OR ended_at >= ? ORDER BY id", [since],
                Self.conditionRow)
        }
    }

    /// Stores a trouble with what was sent about it. Removes those that ended long ago.
    /// - Returns: The row of a new one; the record's own otherwise.
    package func save(_ record: ConditionRecord, at time: Timestamp) async throws(StoreError) -> Int64 {
        try await writer.write("store a trouble") { transaction in
            let db = transaction.db
            let (mail, webhook) = (record.told[.mail], record.told[.webhook])
            let values: StatementArguments = [
                record.condition.kind.rawValue, record.condition.subject, record.condition.reason,
                record.condition.remedy, record.begunAt.millisecondsSinceEpoch, record.endedAt?.millisecondsSinceEpoch,
                mail?.begin?.millisecondsSinceEpoch, mail?.end?.millisecondsSinceEpoch,
                webhook?.begin?.millisecondsSinceEpoch, webhook?.end?.millisecondsSinceEpoch,
            ]
            if let id = record.id {
                try db.change(
                    """
                    UPDATE conditions SET kind = ?, subject = ?, reason = ?, remedy = ?, begun_at = ?, ended_at = ?,
                        mailed_begin = ?, mailed_end = ?, posted_begin = ?, posted_end = ? WHERE id = ?
                    """, values + [id])
                return id
            }
            let forgotten = (time + (.zero - Self.conditionAge)).millisecondsSinceEpoch
            try db.change("DELETE FROM conditions WHERE ended_at < ?", [forgotten])
            try db.change(
                """
                INSERT INTO conditions (kind, subject, reason, remedy, begun_at, ended_at, mailed_begin, mailed_end,
                    posted_begin, posted_end) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """, values)
            return db.lastInsertedRowID
        }
    }

    private static func conditionRow(_ row: StoredRow) throws -> ConditionRecord {
        let condition = ServiceCondition(
            try row.value("kind") { ServiceCondition.Kind(rawValue: $0) }, subject: try row["subject"],
            reason: try row["reason"], remedy: try row["remedy"])
        return ConditionRecord(
            id: try row["id"], condition, begunAt: try row.time("begun_at"), endedAt: try row.optionalTime("ended_at"),
            told: [
                .mail: .init(begin: try row.optionalTime("mailed_begin"), end: try row.optionalTime("mailed_end")),
                .webhook: .init(begin: try row.optionalTime("posted_begin"), end: try row.optionalTime("posted_end")),
            ])
    }
}
