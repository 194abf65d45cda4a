import GRDB
package import Model

extension Store {
    /// Puts back what was being sent when a daemon ended, marked as what may have arrived.
    /// - Parameter place: Only what was being sent there; nothing: all.
    /// - Returns: How many.
    @discardableResult
    package func recoverOutbox(
        for place: OutboxPlace? = nil, at time: Timestamp
    ) async throws(StoreError) -> Int {
        try await lane.write("take up what was being sent") { transaction in
            try transaction.db.change(
                """
                UPDATE outbox SET state = 'waiting', is_uncertain = 1, next_at = ?1 WHERE state = 'sending'
                AND (?2 IS NULL OR (kind = ?2 AND destination = ?3))
                """, [time.millisecondsSinceEpoch, place?.kind.rawValue, place?.name])
            let count = transaction.db.changesCount
            if count > 0 { transaction.changed(.outbox) }
            return count
        }
    }

    /// The destinations for which messages wait, each with the time of its earliest.
    package func outboxPlaces() async throws(StoreError) -> [OutboxPlace: Timestamp] {
        try await read("read what waits to be sent") { db in
            var places: [OutboxPlace: Timestamp] = [:]
            let rows = try db.all(
                """
                SELECT kind, destination, min(next_at) AS next_at FROM outbox
                WHERE state IN ('waiting', 'sending') AND state = 'waiting' AND NOT EXISTS
                    (SELECT 1 FROM outbox AS older WHERE older.kind = outbox.kind AND older.destination = outbox.destination
                     AND older.subject = outbox.subject AND older.state IN ('waiting', 'sending')
                     AND older.id < outbox.id)
                GROUP BY kind, destination
                """
            ) { row in
                (
                    OutboxPlace(
                        kind: try row.value("kind") { OutboxDestination.Kind(rawValue: $0) }, name: row["destination"]),
                    row.time("next_at")
                )
            }
            for (place, time) in rows { places[place] = time }
            return places
        }
    }

    /// Takes the next message of a destination that is due: the oldest whose subject has no older open one. It is stored as being
    /// sent before it is.
    /// - Parameter horizon: The longest wait there is: a message that says it is due later than that was stored by a clock that
    ///   went wrong, and is due.
    package func takeMessage(
        for place: OutboxPlace, at time: Timestamp, horizon: Duration
    ) async throws(StoreError) -> OutboxMessage? {
        try await lane.write("take a message for \(place.name.kept(200))") { transaction in
            let db = transaction.db
            let message = try db.first(
                """
                SELECT * FROM outbox WHERE kind = ?1 AND destination = ?2 AND state IN ('waiting', 'sending')
                AND state = 'waiting' AND (next_at <= ?3 OR next_at > ?4) AND NOT EXISTS
                    (SELECT 1 FROM outbox AS older WHERE older.kind = outbox.kind AND older.destination = outbox.destination
                     AND older.subject = outbox.subject AND older.state IN ('waiting', 'sending')
                     AND older.id < outbox.id)
                ORDER BY id LIMIT 1
                """,
                [
                    place.kind.rawValue, place.name, time.millisecondsSinceEpoch,
                    (time + horizon).millisecondsSinceEpoch,
                ], Self.message)
            guard var message else { return nil }
            message.state = .sending
            message.tries += 1
            try db.change("UPDATE outbox SET state = 'sending', tries = tries + 1 WHERE id = ?", [message.id])
            transaction.changed(.outbox)
            transaction.passes("outbox.sending")
            return message
        }
    }

    /// Stores what a try came to.
    package func settle(
        _ message: OutboxMessage, as settlement: OutboxSettlement, at time: Timestamp
    ) async throws(StoreError) {
        try await lane.write("store what came of message \(message.id)") { transaction in
            let db = transaction.db
            var (state, note, next): (OutboxMessage.State, String?, Timestamp?)
            var isUncertain = false
            switch settlement {
            case .sent(let how): (state, note, next) = (.sent, how, nil)
            case .unneeded(let reason): (state, note, next) = (.unneeded, reason, nil)
            case .givenUp(let reason): (state, note, next) = (.givenUp, reason, nil)
            case .again(let at, let reason, let maybe):
                (state, note, next) = (.waiting, reason, at)
                isUncertain = maybe
                let isReplaced =
                    try message.kind.isReplaceable
                    && db.first(
                        """
                        SELECT EXISTS (SELECT 1 FROM outbox WHERE kind = ? AND destination = ? AND subject = ?
                        AND state IN ('waiting', 'sending') AND id > ?)
                        """, [message.kind.rawValue, message.destination, message.subject, message.id]
                    ) { $0[0] as Bool } ?? false
                if isReplaced { (state, next) = (.superseded, nil) }
            }
            try db.change(
                """
                UPDATE outbox SET state = ?, note = ?, next_at = coalesce(?, next_at), is_uncertain = ?, ended_at = ?
                WHERE id = ? AND state = 'sending'
                """,
                [
                    state.rawValue, note?.kept(Self.maximumNoteBytes), next?.millisecondsSinceEpoch, isUncertain,
                    next == nil ? time.millisecondsSinceEpoch : nil, message.id,
                ])
            transaction.changed(.outbox)
            transaction.passes("outbox.\(state.rawValue)")
        }
    }

    /// Messages, newest first.
    /// - Parameters:
    ///   - state: Only those.
    ///   - limit: At most `maximumPage`.
    ///   - cursor: The `next` of the page before.
    package func outbox(
        _ state: OutboxMessage.State? = nil, limit: Int = 50, before cursor: Int64? = nil
    ) async throws(StoreError) -> Page<OutboxMessage> {
        let limit = Self.pageSize(limit)
        return try await read("list the outbox") { db in
            let messages = try db.all(
                "SELECT * FROM outbox WHERE id < ?1 AND (?2 IS NULL OR state = ?2) ORDER BY id DESC LIMIT ?3",
                [cursor ?? .max, state?.rawValue, limit + 1], Self.message)
            return Self.page(Array(messages.prefix(limit)), hasMore: messages.count > limit) { $0.id }
        }
    }

    /// How many messages are in each state.
    package func outboxCounts() async throws(StoreError) -> [OutboxMessage.State: Int] {
        try await read("count the outbox") { db in
            var counts: [OutboxMessage.State: Int] = [:]
            let rows = try db.all("SELECT state, count(*) AS count FROM outbox GROUP BY state") { row in
                (try row.value("state") { OutboxMessage.State(rawValue: $0) }, row["count"] as Int)
            }
            for (state, count) in rows { counts[state] = count }
            return counts
        }
    }

    static func message(_ row: Row) throws -> OutboxMessage {
        let bot = try row.name("bot")
        guard let content = try row.json("content", as: OutboxContent.self) else {
            throw Refusal(code: .corrupt, message: "the column content of the outbox is empty; restore a backup")
        }
        return OutboxMessage(
            id: row["id"], kind: try row.value("kind") { OutboxDestination.Kind(rawValue: $0) },
            destination: row["destination"], subject: row["subject"], bot: bot,
            integration: (row["number"] as Int?).map { IntegrationID(bot: bot, number: $0) },
            job: try row.optional("job") { Name($0) }, content: content,
            state: try row.value("state") { OutboxMessage.State(rawValue: $0) }, tries: row["tries"],
            isUncertain: row["is_uncertain"], nextAt: row.time("next_at"), note: row["note"],
            createdAt: row.time("created_at"), endedAt: row.optionalTime("ended_at"))
    }
}
