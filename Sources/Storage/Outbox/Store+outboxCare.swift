import GRDB
package import Model

extension Store {
    /// Has a message tried again that was given up.
    /// - Throws: `notFound`; `illegalTransition` for one in another state, and where a newer one of its subject was stored since.
    package func retryMessage(_ id: Int64, at time: Timestamp) async throws(StoreError) -> OutboxMessage {
        try await lane.write("try message \(id) again") { transaction in
            let db = transaction.db
            let stored = try db.first("SELECT * FROM outbox WHERE id = ?", [id], Self.message)
            guard var message = stored else { throw Refusal.notFound("message \(id)") }
            guard message.state == .givenUp else {
                throw IllegalTransition(state: message.state.rawValue, event: "trying again")
            }
            let isOld: Bool? = try db.first(
                "SELECT EXISTS (SELECT 1 FROM outbox WHERE kind = ? AND destination = ? AND subject = ? AND id > ?)",
                [message.kind.rawValue, message.destination, message.subject, id]
            ) { $0[0] }
            if message.kind.isReplaceable, isOld == true {
                throw IllegalTransition(state: "given up, with a newer one after it", event: "trying again")
            }
            message.state = .waiting
            (message.nextAt, message.createdAt, message.endedAt) = (time, time, nil)
            try db.change(
                "UPDATE outbox SET state = 'waiting', next_at = ?1, created_at = ?1, ended_at = NULL WHERE id = ?2",
                [time.millisecondsSinceEpoch, id])
            transaction.changed(.outbox)
            transaction.passes("outbox.waiting")
            return message
        }
    }

    /// Removes what has come to its end: all but the newest, and what is older than a time.
    /// - Parameters:
    ///   - kept: The most rows that stay.
    ///   - age: Rows that ended before this are removed.
    package func trimOutbox(keeping kept: Int, endedAfter age: Timestamp) async throws(StoreError) {
        let operation = "remove old messages"
        let limit = try await read(operation) { db in
            try db.first("SELECT id FROM outbox ORDER BY id DESC LIMIT 1 OFFSET ?", [kept]) { $0[0] as Int64 }
        }
        try await deleteBatches(
            operation, from: "outbox", key: "id",
            where: "state NOT IN ('waiting', 'sending') AND (id <= ? OR ended_at < ?)",
            [limit ?? 0, age.millisecondsSinceEpoch])
    }
}
