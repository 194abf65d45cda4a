import GRDB
import Model

extension Store {
    /// All that wait, oldest first.
    package func queued() async throws(StoreError) -> [OpenIntegration] { try await open(state: "queued") }

    /// All that run, oldest first: on start, those to reconcile.
    package func running() async throws(StoreError) -> [OpenIntegration] { try await open(state: "running") }

    private func open(state: String) async throws(StoreError) -> [OpenIntegration] {
        try await read("read the \(state) integrations") { db in
            try Row.fetchAll(
                db,
                sql: """
                    SELECT integrations.id, number, ref, "commit", cause, is_release, run, bots.name AS bot_name,
                        \(Self.newerNumber)
                    FROM integrations JOIN bots ON bots.id = bot
                    WHERE state = ? AND state <> 'completed' ORDER BY integrations.id
                    """, arguments: [state]
            ).map { row in
                let bot = try row.name("bot_name")
                return OpenIntegration(
                    id: IntegrationID(bot: bot, number: row["number"]), rowID: row["id"], ref: try row.ref("ref"),
                    commit: try row.value("commit") { CommitID($0) },
                    cause: try row.value("cause") { Cause(rawValue: $0) }, isRelease: row["is_release"],
                    run: row["run"],
                    supersededBy: (row["newer_number"] as Int?).map { IntegrationID(bot: bot, number: $0) })
            }
        }
    }

    /// How many wait and run, and of how many bots.
    package func openCounts() async throws(StoreError) -> OpenCounts {
        try await read("count what there is to do") { db in
            func count(_ sql: String) throws -> Int { try Int.fetchOne(db, sql: sql) ?? 0 }
            return OpenCounts(
                bots: try count("SELECT count(*) FROM bots WHERE is_retired = 0"),
                queued: try count("SELECT count(*) FROM integrations WHERE state = 'queued' AND state <> 'completed'"),
                running: try count("SELECT count(*) FROM integrations WHERE state = 'running' AND state <> 'completed'")
            )
        }
    }
}
