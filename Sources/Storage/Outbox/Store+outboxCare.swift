import GRDB
package import Model

extension Store {
    /// Queues a message again that was given up.
    /// - Throws: `notFound` if there is no such message, or if its integration was removed: its facts are no longer known, and its page is gone.
    ///   `illegalTransition` for a message in another state, and if a newer message with its subject has been stored since.
    package func retryMessage(_ id: Int64, at time: Timestamp) async throws(StoreError) -> OutboxMessage {
        try await writer.write("try message \(id) again") { transaction in
            let db = transaction.db
            let stored = try db.first("SELECT * FROM outbox WHERE id = ?", [id], Self.message)
            guard var message = stored else { throw Refusal.notFound("message \(id)") }
            guard message.state == .givenUp else {
                throw IllegalTransition(state: message.state.rawValue, event: "trying again")
            }
            if let told = message.integration {
                do {
                    _ = try Self.integrationRow(told, db)
                } catch let refusal as Refusal where refusal.code == .notFound {
                    throw Refusal(
                        code: .notFound,
                        message: "message \(id) tells of \(told), which was removed, so there is nothing to send")
                }
            }
            let isOld: Bool? = try db.first(
                "SELECT EXISTS (SELECT 1 FROM outbox WHERE kind = ? AND destination = ? AND subject = ? AND id > ?)",
                [message.kind.rawValue, message.destination, message.subject, id]
            ) { try $0[0] }
            if message.kind.isReplaceable, isOld == true {
                throw IllegalTransition(state: "given up, with a newer one after it", event: "trying again")
            }
            message.state = .waiting
            (message.nextAt, message.createdAt, message.failedAt, message.endedAt) = (time, time, nil, nil)
            // The message is sent before the newer messages of its subject.
            let subject: StatementArguments = [message.kind.rawValue, message.destination, message.subject, id]
            try db.change(
                """
                UPDATE outbox SET is_first = 0 WHERE id = (
                    SELECT id FROM outbox WHERE kind = ? AND destination = ? AND subject = ?
                    AND state IN ('waiting', 'sending') AND id > ? ORDER BY id LIMIT 1)
                """, subject)
            try db.change(
                """
                UPDATE outbox SET state = 'waiting', next_at = ?5, created_at = ?5, failed_at = NULL, ended_at = NULL,
                is_first = NOT EXISTS (SELECT 1 FROM outbox AS older WHERE older.kind = ?1 AND older.destination = ?2
                    AND older.subject = ?3 AND older.state IN ('waiting', 'sending') AND older.id < ?4)
                WHERE id = ?4
                """, subject + [time.millisecondsSinceEpoch])
            transaction.changed(.outbox)
            transaction.passes("outbox.waiting")
            return message
        }
    }

    /// Returns the storage time of a destination's waiting message number `kept`, counted from the newest. Messages stored before that time are the
    /// overflow.
    /// - Parameter kept: The number of messages to keep; at least one.
    /// - Returns: `nil` if fewer messages wait.
    package func overflow(of place: OutboxPlace, keeping kept: Int) async throws(StoreError) -> Timestamp? {
        try await read("count what waits to be sent") { db in
            try db.first(Self.overflowQuery, [place.kind.rawValue, place.name, place.account, kept - 1]) {
                try $0.time("created_at")
            }
        }
    }

    /// Gives up messages that have waited too long for a destination, in batches.
    /// - Parameters:
    ///   - age: Messages stored before this time are given up.
    ///   - reason: The reason, without the result of the last attempt, which is added.
    /// - Returns: The number of messages given up.
    package func expireMessages(
        for place: OutboxPlace, storedBefore age: Timestamp, reason: String, at time: Timestamp
    ) async throws(StoreError) -> Int {
        var count = 0
        while true {
            let expired = try await writer.write("give up what waits too long") { transaction in
                let ids: [Int64] = try transaction.db.all(
                    Self.overdueQuery,
                    [
                        place.kind.rawValue, place.name, place.account, age.millisecondsSinceEpoch,
                        Self.expiryBatch,
                    ]
                ) { try $0[0] }
                for id in ids {
                    try transaction.db.change(
                        Self.expiry, [time.millisecondsSinceEpoch, reason.kept(Self.maximumNoteBytes / 2), id])
                }
                if !ids.isEmpty { transaction.changed(.outbox) }
                return ids.count
            }
            count += expired
            if expired < Self.expiryBatch { return count }
        }
    }

    /// The most messages that one transaction gives up. Each is a row with five index entries and takes about 30 µs.
    private static let expiryBatch = 40

    /// Removes ended messages that are not among the newest rows or that ended too long ago.
    /// - Parameters:
    ///   - kept: The number of newest rows that stay.
    ///   - age: Messages that ended before this time are removed.
    package func trimOutbox(keeping kept: Int, endedAfter age: Timestamp) async throws(StoreError) {
        let operation = "remove old messages"
        let limit = try await read(operation) { db in
            try db.first("SELECT id FROM outbox ORDER BY id DESC LIMIT 1 OFFSET ?", [kept]) { try $0[0] as Int64 }
        }
        try await deleteBatches(operation, .endedMessages(upTo: limit ?? 0, before: age))
    }
}
