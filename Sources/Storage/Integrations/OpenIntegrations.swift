import GRDB
package import Model
import Synchronization

/// The scheduler's view of a queued or running integration. It has no recipe, which can be large: the whole queue is read whenever something changes.
package struct OpenIntegration: Hashable, Sendable {
    package var id: IntegrationID
    /// The row's number; older integrations have lower ones.
    package var rowID: Int64
    package var ref: RefName
    package var commit: CommitID
    package var cause: Cause
    package var isRelease: Bool
    /// The number of the run. Above 1 it is a rerun that a user requested.
    package var run: Int
    /// The newer integration of the same ref that supersedes this one.
    package var supersededBy: IntegrationID?
    /// Whether the integration is running but still being prepared: neither its recipe nor a job has started.
    package var isPreparing: Bool
    /// Whether it belongs to a fork's pull request, which anybody can open.
    package var isFork: Bool

    package init(
        id: IntegrationID, rowID: Int64, ref: RefName, commit: CommitID, cause: Cause, isRelease: Bool = false,
        run: Int = 1, supersededBy: IntegrationID? = nil, isPreparing: Bool = false, isFork: Bool = false
    ) {
        self.id = id
        self.rowID = rowID
        self.ref = ref
        self.commit = commit
        self.cause = cause
        self.isRelease = isRelease
        self.run = run
        self.supersededBy = supersededBy
        self.isPreparing = isPreparing
        self.isFork = isFork
    }
}

/// The numbers of bots and open integrations.
package struct OpenCounts: Hashable, Sendable {
    /// The number of bots that are not retired.
    package var bots: Int
    package var queued: Int
    package var running: Int

    package init(bots: Int, queued: Int, running: Int) {
        self.bots = bots
        self.queued = queued
        self.running = running
    }
}

/// The heads of the queue as they were decoded, while they are heads. A head is asked for at each choice of the scheduler, and hundreds can wait.
///
/// The decoded values are right because only the key's columns change while an integration waits. For example, a new toolchain changes its cause
/// (`Store.takeUp(_:queueing:at:recording:)`).
final class QueueHeads: Sendable {
    /// What tells one state of a waiting integration from another.
    struct Key: Hashable {
        var row: Int64
        var run: Int
        /// The row of the newer integration.
        var supersededBy: Int64?
        /// The stored word.
        var cause: String
    }

    private let known = Mutex<[Key: OpenIntegration]>([:])

    /// The integrations of `keys`, in their order. Forgets all others.
    /// - Parameter read: Returns those that are not known, from the snapshot that the keys are of.
    func integrations(_ keys: [Key], read: ([Key]) throws -> [OpenIntegration]) rethrows -> [OpenIntegration] {
        var known = known.withLock { $0 }
        let missing = keys.filter { known[$0] == nil }
        if !missing.isEmpty {
            let rows = Dictionary(missing.map { ($0.row, $0) }) { first, _ in first }
            for integration in try read(missing) {
                if let key = rows[integration.rowID] { known[key] = integration }
            }
        }
        let heads = keys.compactMap { key in known[key].map { (key, $0) } }
        if !missing.isEmpty || known.count > heads.count {
            let current = Dictionary(heads) { first, _ in first }
            self.known.withLock { $0 = current }
        }
        return heads.map(\.1)
    }
}

/// Which integrations are read.
enum OpenSelection: Sendable {
    case queued, running
    /// Those of a JSON list of rows.
    case rows(String)
}

extension Store {
    /// All that wait, oldest first.
    package func queued() async throws(StoreError) -> [OpenIntegration] {
        try await open(.queued, "read the queued integrations")
    }

    /// All that run, oldest first: on start, those to reconcile.
    package func running() async throws(StoreError) -> [OpenIntegration] {
        try await open(.running, "read the running integrations")
    }

    /// The row of the integration that was queued last; 0 when there is none.
    package func newestRow() async throws(StoreError) -> Int64 {
        try await read("read the newest integration's row") { db in
            try db.first("SELECT coalesce(max(id), 0) FROM integrations") { try $0[0] } ?? 0
        }
    }

    /// The rows of `heads()`, by the index of waiting integrations alone.
    static let headsQuery = """
        SELECT id, run, superseded_by, cause FROM integrations WHERE id IN (SELECT min(id)
            FROM integrations INDEXED BY integrations_queued WHERE state = 'queued'
            GROUP BY bot, ref, cause, is_release, run > 1) ORDER BY id
        """

    /// Of those that wait the oldest of each bot, ref and cause: whatever the order in which refs and causes are taken,
    /// the next one is among them. As few as there are refs, however long the queue is.
    ///
    /// The scheduler asks at each of its choices, so each of them is decoded once while it is among them.
    package func heads() async throws(StoreError) -> [OpenIntegration] {
        try await read("read the queue's heads") { [queueHeads] db in
            let keys = try db.all(Self.headsQuery) { row in
                QueueHeads.Key(row: try row[0], run: try row[1], supersededBy: try row[2], cause: try row[3])
            }
            return try queueHeads.integrations(keys) { missing in
                try Self.open(.rows(try jsonText(missing.map(\.row))), db)
            }
        }
    }

    /// Those of a repository that have begun and have no recipe and no job yet, oldest first, each with its reason.
    package func preparing(of repository: String) async throws(StoreError) -> [(id: IntegrationID, reason: String?)] {
        try await read("read what is prepared of \(repository)") { db in
            try db.all(
                """
                SELECT number, reason, bots.name AS bot_name FROM integrations JOIN bots ON bots.id = bot
                WHERE state = 'running' AND state <> 'completed' AND step = 'preparing'
                AND integrations.repository = (SELECT id FROM repositories WHERE url = ?) ORDER BY integrations.id
                """, [repository]
            ) { (IntegrationID(bot: try $0.name("bot_name"), number: try $0["number"]), try $0["reason"]) }
        }
    }

    /// Stores why integrations are in their states, without changing these; `nil` removes the reason.
    package func explain(_ ids: [IntegrationID], _ reason: String?) async throws(StoreError) {
        try await writer.write("explain integrations") { transaction in
            for id in ids {
                let row = try Self.integrationRow(id, transaction.db)
                try transaction.db.change(
                    "UPDATE integrations SET reason = ? WHERE id = ? AND state <> 'completed'", [reason?.kept, row])
                transaction.changed(.integration(id))
            }
        }
    }

    /// Returns the queued integrations of bots whose files have been gone since `time` or longer, oldest first.
    /// - Parameter limit: The most integrations.
    package func orphans(
        since time: Timestamp, limit: Int = 200
    ) async throws(StoreError) -> [(id: IntegrationID, run: Int)] {
        try await read("read what waits of bots that are gone") { db in
            try db.all(
                """
                SELECT number, run, bots.name AS bot_name FROM bots CROSS JOIN integrations INDEXED BY integrations_queued
                    ON bot = bots.id AND state = 'queued'
                WHERE is_retired = 1 AND retired_at <= ? ORDER BY integrations.id LIMIT ?
                """, [time.millisecondsSinceEpoch, limit]
            ) { (IntegrationID(bot: try $0.name("bot_name"), number: try $0["number"]), try $0["run"]) }
        }
    }

    private func open(
        _ selection: OpenSelection, _ operation: String
    ) async throws(StoreError) -> [OpenIntegration] {
        try await read(operation) { db in try Self.open(selection, db) }
    }

    static func open(_ selection: OpenSelection, _ db: Database) throws -> [OpenIntegration] {
        let (condition, arguments): (String, StatementArguments) =
            switch selection {
            // The second condition is the index's.
            case .queued: ("state = 'queued' AND state <> 'completed'", [])
            case .running: ("state = 'running' AND state <> 'completed'", [])
            case .rows(let list): ("integrations.id IN (SELECT value FROM json_each(?))", [list])
            }
        return try db.all(
            """
            SELECT integrations.id, number, ref, "commit", cause, is_release, run, step, bots.name AS bot_name,
                pull_request IS NOT NULL AND source IS NULL AS is_fork,
                \(newerNumber)
            FROM integrations JOIN bots ON bots.id = bot WHERE \(condition) ORDER BY integrations.id
            """, arguments
        ) { row in
            let bot = try row.name("bot_name")
            return OpenIntegration(
                id: IntegrationID(bot: bot, number: try row["number"]), rowID: try row["id"],
                ref: try row.ref("ref"),
                commit: try row.value("commit") { CommitID($0) },
                cause: try row.value("cause") { Cause(rawValue: $0) }, isRelease: try row["is_release"],
                run: try row["run"],
                supersededBy: (try row["newer_number"] as Int?).map { IntegrationID(bot: bot, number: $0) },
                isPreparing: try row["step"] == IntegrationStep.preparing.rawValue, isFork: try row["is_fork"])
        }
    }

    /// How many wait and run, and of how many bots.
    package func openCounts() async throws(StoreError) -> OpenCounts {
        try await read("count open integrations") { db in
            OpenCounts(
                bots: try db.value("SELECT count(*) FROM bots WHERE is_retired = 0") ?? 0,
                queued: try db.value(
                    "SELECT count(*) FROM integrations WHERE state = 'queued' AND state <> 'completed'") ?? 0,
                running: try db.value(
                    "SELECT count(*) FROM integrations WHERE state = 'running' AND state <> 'completed'") ?? 0)
        }
    }

    /// Returns the number of queued integrations that no pause and no drain holds back.
    package func startableCount() async throws(StoreError) -> Int {
        try await read("count the integrations that may start") { db in
            try db.value(
                """
                SELECT count(*) FROM integrations WHERE state = 'queued' AND state <> 'completed' AND NOT EXISTS (
                    SELECT 1 FROM pauses
                    WHERE kind <> 'publishing' AND (pauses.bot IS NULL OR pauses.bot = integrations.bot))
                """) ?? 0
        }
    }
}
