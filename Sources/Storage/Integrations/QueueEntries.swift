import GRDB
import Model

/// An open integration, with what a forecast of the queue needs.
package struct QueueEntry: Hashable, Sendable {
    package var open: OpenIntegration
    package var outline: IntegrationOutline
    /// The number of its jobs that wait for a slot.
    package var waitingJobs: Int
    /// The number of its jobs that run.
    package var runningJobs: Int
    /// The durations of the last `Store.maximumPastDurations` integrations of its ref that judged the code; of any ref of the bot if there is none.
    package var past: [Duration]

    package init(
        open: OpenIntegration, outline: IntegrationOutline, waitingJobs: Int = 0, runningJobs: Int = 0,
        past: [Duration] = []
    ) {
        (self.open, self.outline, self.past) = (open, outline, past)
        (self.waitingJobs, self.runningJobs) = (waitingJobs, runningJobs)
    }
}

extension Store {
    /// The number of past integrations whose durations a forecast reads.
    package static let maximumPastDurations = 20

    /// The rows of the first open integrations: those that run, and those that users asked for first.
    private static let openRowsQuery = """
        SELECT id FROM integrations WHERE state = ?1 AND state <> 'completed'
        ORDER BY run > 1 OR cause = 'person' DESC, is_release DESC, id LIMIT ?2
        """

    /// Returns the running integrations and the first queued ones, and the number of all queued ones.
    /// - Parameter limit: The most running and the most queued integrations that are read.
    package func queueEntries(
        limit: Int
    ) async throws(StoreError) -> (running: [QueueEntry], queued: [QueueEntry], total: Int) {
        try await read("read the queue") { db in
            let total: Int? = try db.value(
                "SELECT count(*) FROM integrations WHERE state = 'queued' AND state <> 'completed'")
            return (
                try Self.queueEntries("running", limit: limit, db), try Self.queueEntries("queued", limit: limit, db),
                total ?? 0
            )
        }
    }

    private static func queueEntries(_ state: String, limit: Int, _ db: Database) throws -> [QueueEntry] {
        let rows: [Int64] = try db.values(openRowsQuery, [state, limit])
        let list = try jsonText(rows)
        let columns = OutlineColumns()
        let outlines = try db.all(outlineQuery + " WHERE integrations.id IN (SELECT value FROM json_each(?))", [list]) {
            try outline($0, columns)
        }
        let known = Dictionary(outlines.map { ($0.rowID, $0) }) { first, _ in first }
        var details: [Int64: (waiting: Int, running: Int, past: [Duration])] = [:]
        let _: [Void] = try db.all(queueDetailsQuery, [list]) { row in
            let texts: (String?, String?) = (try row["own"], try row["any"])
            let past = (texts.0 ?? texts.1 ?? "").split(separator: " ").compactMap { Int64($0) }
            details[try row["id"]] = (try row["waiting"], try row["running"], past.map { .milliseconds($0) })
        }
        return try open(.rows(list), db).compactMap { open in
            guard let outline = known[open.rowID], let detail = details[open.rowID] else { return nil }
            return QueueEntry(
                open: open, outline: outline, waitingJobs: detail.waiting, runningJobs: detail.running,
                past: detail.past)
        }
    }

    /// Whose past durations a statement reads.
    private enum Past: String {
        case ofRef = "past.bot = own.bot AND past.ref = own.ref"
        case ofBot = "past.bot = own.bot"
    }

    /// Returns the part of a statement that reads past durations, in milliseconds with a space between.
    private static func durations(_ past: Past) -> String {
        """
        (SELECT group_concat(took, ' ') FROM (SELECT ended_at - started_at AS took FROM integrations AS past
            WHERE \(past.rawValue) AND state = 'completed' AND is_skipped = 0 AND removed_at IS NULL AND started_at IS NOT NULL
            AND verdict NOT IN ('canceled', 'checkout-error', 'internal-error')
            ORDER BY number DESC LIMIT \(maximumPastDurations)))
        """
    }

    private static let queueDetailsQuery = """
        SELECT own.id AS id,
            (SELECT count(*) FROM attempts WHERE integration = own.id AND state = 'queued') AS waiting,
            (SELECT count(*) FROM attempts WHERE integration = own.id AND state IN ('running', 'ended')) AS running,
            \(durations(.ofRef)) AS own,
            \(durations(.ofBot)) AS any
        FROM integrations AS own WHERE own.id IN (SELECT value FROM json_each(?))
        """
}
