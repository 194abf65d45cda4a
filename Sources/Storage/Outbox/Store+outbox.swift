import GRDB
package import Model

extension Store {
    /// Returns messages that were being sent when a daemon ended to the waiting state. They are marked as uncertain, since they may have arrived.
    /// - Returns: The number of messages.
    @discardableResult
    package func recoverOutbox(at time: Timestamp) async throws(StoreError) -> Int {
        try await writer.write("resume messages that were being sent") { transaction in
            try transaction.db.change(Self.recovery, [time.millisecondsSinceEpoch])
            let count = transaction.db.changesCount
            if count > 0 {
                transaction.changed(.outbox)
                transaction.passes("outbox.recovered")
            }
            return count
        }
    }

    /// Returns the destinations with waiting messages, each with the time of its earliest.
    package func outboxPlaces() async throws(StoreError) -> [OutboxPlace: Timestamp] {
        try await read("read what waits to be sent") { db in
            var places: [OutboxPlace: Timestamp] = [:]
            let rows = try db.all(Self.placesQuery) { row in
                (
                    OutboxPlace(
                        kind: try row.value("kind") { OutboxDestination.Kind(rawValue: $0) },
                        name: try row["destination"],
                        account: try row["account"]),
                    try row.time("next_at")
                )
            }
            for (place, time) in rows { places[place] = time }
            return places
        }
    }

    /// Takes a destination's next due message: the one that has been due longest among those whose subject has no older open message. The message is
    /// marked as being sent before it is sent.
    /// - Parameter horizon: The longest possible wait. A message due later than that was stored with a wrong clock, and is due now.
    /// - Returns: The message; `nil` if none is due.
    /// - Throws: `corrupt` for a message that cannot be read. It is given up, and the next call takes the next one.
    package func takeMessage(
        for place: OutboxPlace, at time: Timestamp, horizon: Duration
    ) async throws(StoreError) -> OutboxMessage? {
        let operation = "take a message for \(place.name.kept(200))"
        let taken = try await writer.write(operation) { transaction -> Result<OutboxMessage?, Refusal> in
            let db = transaction.db
            let arguments: StatementArguments = [place.kind.rawValue, place.name, place.account]
            let due: Int64? =
                try db.first(Self.dueQuery, arguments + [time.millisecondsSinceEpoch]) { try $0[0] as Int64 }
                ?? db.first(Self.strayQuery, arguments + [(time + horizon).millisecondsSinceEpoch]) { try $0[0] }
            guard let due else { return .success(nil) }
            do {
                guard var message = try db.first("SELECT * FROM outbox WHERE id = ?", [due], Self.message) else {
                    return .success(nil)
                }
                message.state = .sending
                message.tries += 1
                try db.change("UPDATE outbox SET state = 'sending', tries = tries + 1 WHERE id = ?", [due])
                transaction.changed(.outbox)
                transaction.passes("outbox.sending")
                return .success(message)
            } catch let refusal as Refusal where refusal.code == .corrupt {
                let reason = "message \(due) cannot be read, and is given up: \(refusal.message)"
                try db.change(
                    "UPDATE outbox SET state = 'given-up', note = ?, ended_at = ? WHERE id = ?",
                    [reason.kept(Self.maximumNoteBytes), time.millisecondsSinceEpoch, due])
                transaction.changed(.outbox)
                return .failure(Refusal(code: .corrupt, message: reason))
            }
        }
        switch taken {
        case .success(let message): return message
        case .failure(let refusal):
            throw StoreError(code: refusal.code, operation: operation, message: refusal.message)
        }
    }

    /// Stores the result of an attempt to send a message.
    package func settle(
        _ message: OutboxMessage, as settlement: OutboxSettlement, at time: Timestamp
    ) async throws(StoreError) {
        try await writer.write("store what came of message \(message.id)") { transaction in
            let db = transaction.db
            var (state, note, next): (OutboxMessage.State, String?, Timestamp?)
            var mayHaveArrived = false
            switch settlement {
            case .sent(let how): (state, note, next) = (.sent, how, nil)
            case .unneeded(let reason): (state, note, next) = (.unneeded, reason, nil)
            case .givenUp(let reason, let maybe):
                (state, note, next) = (.givenUp, reason, nil)
                mayHaveArrived = maybe
            case .again(let at, let reason, let maybe):
                (state, note, next) = (.waiting, reason, at)
                mayHaveArrived = maybe
                let isReplaced =
                    try message.kind.isReplaceable
                    && db.first(
                        Self.newerQuery,
                        [message.kind.rawValue, message.destination, message.subject, message.id]
                    ) { try $0[0] as Bool } ?? false
                if isReplaced { (state, next) = (.superseded, nil) }
            }
            let now = time.millisecondsSinceEpoch
            try db.change(
                Self.settlement,
                [
                    state.rawValue, note?.kept(Self.maximumNoteBytes), next?.millisecondsSinceEpoch, mayHaveArrived,
                    next == nil ? now : nil, next == nil ? nil : now, message.id,
                ])
            transaction.changed(.outbox)
            transaction.passes("outbox.\(state.rawValue)")
        }
    }

    /// Returns messages, newest first. Messages that cannot be read are left out.
    /// - Parameters:
    ///   - state: If not `nil`, only messages in this state are returned.
    ///   - bots: If not `nil`, only messages about these bots are returned.
    ///   - limit: The most messages to return, at most `maximumPage`.
    ///   - cursor: The `next` of the previous page.
    package func outbox(
        _ state: OutboxMessage.State? = nil, of bots: BotScope? = nil, limit: Int = 50, before cursor: Int64? = nil
    ) async throws(StoreError) -> Page<OutboxMessage> {
        let limit = Self.pageSize(limit)
        return try await read("list the outbox") { db in
            let messages = try db.all(
                """
                SELECT * FROM outbox WHERE id < ?1 AND (?2 IS NULL OR state = ?2)
                    AND (?4 IS NULL OR bot IN (SELECT value FROM json_each(?4))) ORDER BY id DESC LIMIT ?3
                """, [cursor ?? .max, state?.rawValue, limit + 1, try Self.names(in: bots, db)]
            ) { row in (id: try row["id"] as Int64, message: try? Self.message(row)) }
            let page = Self.page(Array(messages.prefix(limit)), hasMore: messages.count > limit) { $0.id }
            return Page(items: page.items.compactMap { $0.message }, next: page.next)
        }
    }

    /// Returns the bot that a message is about; `nil` if there is no such message.
    package func bot(ofMessage id: Int64) async throws(StoreError) -> Name? {
        try await read("read the bot of message \(id)") { db in
            try db.first("SELECT bot FROM outbox WHERE id = ?", [id]) { try $0.name("bot") }
        }
    }

    /// Returns the number of messages in each state.
    /// - Parameter bots: If not `nil`, only messages about these bots are counted.
    package func outboxCounts(of bots: BotScope? = nil) async throws(StoreError) -> [OutboxMessage.State: Int] {
        try await read("count the outbox") { db in
            var counts: [OutboxMessage.State: Int] = [:]
            let rows = try db.all(
                """
                SELECT state, count(*) AS count FROM outbox
                WHERE ?1 IS NULL OR bot IN (SELECT value FROM json_each(?1)) GROUP BY state
                """, [try Self.names(in: bots, db)]
            ) { row in
                (try row.value("state") { OutboxMessage.State(rawValue: $0) }, try row["count"] as Int)
            }
            for (state, count) in rows { counts[state] = count }
            return counts
        }
    }

    static func message(_ row: StoredRow) throws -> OutboxMessage {
        let bot = try row.name("bot")
        guard let content = try row.json("content", as: OutboxContent.self) else {
            throw Refusal(code: .corrupt, message: "the column content of the outbox is empty; restore a backup")
        }
        return OutboxMessage(
            id: try row["id"], kind: try row.value("kind") { OutboxDestination.Kind(rawValue: $0) },
            destination: try row["destination"], subject: try row["subject"], bot: bot,
            integration: (try row["number"] as Int?).map { IntegrationID(bot: bot, number: $0) },
            job: try row.optional("job") { Name($0) }, content: content,
            state: try row.value("state") { OutboxMessage.State(rawValue: $0) }, tries: try row["tries"],
            isUncertain: try row["is_uncertain"], nextAt: try row.time("next_at"), note: try row["note"],
            createdAt: try row.time("created_at"), failedAt: try row.optionalTime("failed_at"),
            endedAt: try row.optionalTime("ended_at"))
    }
}
