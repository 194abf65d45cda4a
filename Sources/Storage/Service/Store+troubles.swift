import GRDB
package import Model

/// A repository whose latest scans failed.
package struct FailingRepository: Hashable, Sendable {
    package var url: String
    /// The number of scans in a row that failed.
    package var failures: Int
    /// When a scan succeeded last; `nil` if none ever did.
    package var lastScan: Timestamp?
    /// Why the latest scan failed.
    package var reason: String

    package init(url: String, failures: Int, lastScan: Timestamp?, reason: String) {
        (self.url, self.failures, self.lastScan, self.reason) = (url, failures, lastScan, reason)
    }
}

/// A destination to which messages fail.
package struct FailingDestination: Hashable, Sendable {
    package var kind: OutboxDestination.Kind
    /// The destination's name, such as `mail`, or the host of a webhook.
    package var name: String
    /// The bots whose messages fail, at most `Store.maximumTroubles`.
    package var bots: [Name]
    /// When the oldest of its open messages failed first, or when the newest was given up.
    package var since: Timestamp
    /// What the last try came to; `nil` if it was not stored.
    package var reason: String?
    /// Whether messages were given up.
    package var isGivenUp: Bool
}

extension Store {
    /// The most troubles of one kind that are listed.
    package static let maximumTroubles = 50

    /// Writes one row, to see whether the database can be written.
    package func probeWriting(at time: Timestamp) async throws(StoreError) {
        try await writer.write("write to the database") { transaction in
            try transaction.db.change(
                "INSERT INTO probes (id, at) VALUES (1, ?1) ON CONFLICT (id) DO UPDATE SET at = ?1",
                [time.millisecondsSinceEpoch])
        }
    }

    /// The error of the last write, if the disk or another process made it fail; `nil` if the last write succeeded or none was made.
    package var writeTrouble: StoreError? { writer.trouble }

    /// Returns the repositories of bots whose latest scans failed, those that fail for longest first, and the number of repositories of bots.
    package func failingRepositories() async throws(StoreError) -> (failing: [FailingRepository], count: Int) {
        try await read("list the repositories that cannot be scanned") { db in
            let used = "EXISTS (SELECT 1 FROM bots WHERE repository = repositories.id AND is_retired = 0)"
            let failing = try db.all(
                """
                SELECT url, failures, last_look, last_error FROM repositories WHERE failures > 0 AND \(used)
                ORDER BY coalesce(last_look, 0), url
                """
            ) { row in
                FailingRepository(
                    url: try row["url"], failures: try row["failures"], lastScan: try row.optionalTime("last_look"),
                    reason: try row["last_error"] ?? "no reason is known")
            }
            return (failing, try db.value("SELECT count(*) FROM repositories WHERE \(used)") ?? 0)
        }
    }

    /// Returns the destinations to which a message waits that failed before `time`, and those whose newest message was given up.
    /// - Returns: At most `maximumTroubles`, by kind and name.
    package func failingDestinations(since time: Timestamp) async throws(StoreError) -> [FailingDestination] {
        try await read("list the destinations that fail") { db in
            let waiting = try db.all(
                """
                SELECT kind, destination, bot, min(failed_at) AS since, note, 0 AS is_given_up FROM outbox
                WHERE state = 'waiting' AND failed_at <= ? GROUP BY kind, destination, bot
                ORDER BY kind, destination, bot LIMIT ?
                """, [time.millisecondsSinceEpoch, Self.maximumTroubles], Self.failing)
            let givenUp = try db.all(
                """
                SELECT *, 1 AS is_given_up FROM (
                    -- SQLite takes the other columns from the row with the largest id (sqlite.org/lang_select.html, "bare columns").
                    SELECT kind, destination, bot, max(id), state, coalesce(ended_at, created_at) AS since, note
                    FROM outbox WHERE state IN ('sent', 'given-up') GROUP BY kind, destination, bot)
                WHERE state = 'given-up' ORDER BY kind, destination, bot LIMIT ?
                """, [Self.maximumTroubles], Self.failing)
            var found: [FailingDestination] = []
            for trouble in waiting + givenUp {
                if let index = found.firstIndex(where: { $0.kind == trouble.kind && $0.name == trouble.name }) {
                    if !found[index].bots.contains(trouble.bots[0]) { found[index].bots.append(trouble.bots[0]) }
                    found[index].since = min(found[index].since, trouble.since)
                    found[index].isGivenUp = found[index].isGivenUp || trouble.isGivenUp
                } else {
                    found.append(trouble)
                }
            }
            return found
        }
    }

    private static func failing(_ row: StoredRow) throws -> FailingDestination {
        FailingDestination(
            kind: try row.value("kind") { OutboxDestination.Kind(rawValue: $0) }, name: try row["destination"],
            bots: [try row.name("bot")], since: try row.time("since"), reason: try row["note"],
            isGivenUp: try row["is_given_up"])
    }
}
