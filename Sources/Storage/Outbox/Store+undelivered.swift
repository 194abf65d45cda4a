import GRDB
package import Model

/// A destination that does not get its messages: the newest message that was tried there was not delivered.
package struct UndeliveredMessages: Hashable, Sendable {
    package var kind: OutboxDestination.Kind
    /// The destination's name.
    package var destination: String
    /// The bots whose messages were not delivered since the last delivered one, in no order.
    package var bots: Set<Name>
    /// Whether the newest of them was given up, so that it is not tried again by itself.
    package var isGivenUp: Bool
    /// The result of its last attempt.
    package var note: String?
    /// When the oldest of them first failed.
    package var since: Timestamp
}

extension Store {
    /// The most messages that are examined, counted from the newest.
    static let examinedMessages = 1000

    /// Returns the destinations whose newest tried message was not delivered, the one with the newest message first.
    package func undelivered() async throws(StoreError) -> [UndeliveredMessages] {
        try await read("read what could not be delivered") { db in
            let rows = try db.all(
                """
                SELECT kind, destination, bot, state, note, coalesce(failed_at, created_at) AS since
                FROM (SELECT * FROM outbox ORDER BY id DESC LIMIT \(Self.examinedMessages))
                WHERE tries > 0 AND state IN ('sent', 'waiting', 'given-up') ORDER BY id DESC
                """
            ) { row in
                (
                    state: try row.value("state") { OutboxMessage.State(rawValue: $0) },
                    message: UndeliveredMessages(
                        kind: try row.value("kind") { OutboxDestination.Kind(rawValue: $0) },
                        destination: try row["destination"], bots: [try row.name("bot")], isGivenUp: false,
                        note: try row["note"], since: try row.time("since"))
                )
            }
            var found: [UndeliveredMessages] = []
            var delivered: Set<[String]> = []
            for (state, message) in rows {
                let key = [message.kind.rawValue, message.destination]
                if state == .sent { delivered.insert(key) }
                guard !delivered.contains(key) else { continue }
                let index = found.firstIndex { $0.kind == message.kind && $0.destination == message.destination }
                if let index {
                    found[index].bots.formUnion(message.bots)
                    found[index].since = min(found[index].since, message.since)
                } else {
                    var message = message
                    message.isGivenUp = state == .givenUp
                    found.append(message)
                }
            }
            return found
        }
    }
}
