import GRDB
import Model

extension IntegrationID {
    /// Returns the range of the texts of a bot's integrations: from `kit#` up to `kit$`, since `$` follows `#`. A column that holds such a text is
    /// searched by its index, and never taken apart.
    static func texts(of bot: Name) -> Range<String> { "\(bot)#"..<"\(bot)$" }
}

extension Store {
    static let integrationQuery = """
        SELECT integrations.*, bots.name AS bot_name, url, \(newerNumber) FROM integrations
        JOIN bots ON bots.id = bot AND removed_at IS NULL JOIN repositories ON repositories.id = integrations.repository
        """

    /// The number of the integration that superseded this one, which is of the same bot.
    static let newerNumber = """
        (SELECT newer.number FROM integrations AS newer WHERE newer.id = integrations.superseded_by) AS newer_number
        """

    static func integrationRow(_ id: IntegrationID, _ db: Database) throws -> Int64 {
        let row: Int64? = try db.first(
            "SELECT integrations.id FROM integrations JOIN bots ON bots.id = bot WHERE name = ? AND number = ? AND removed_at IS NULL",
            [id.bot.description, id.number]
        ) { try $0[0] }
        guard let row else { throw Refusal.notFound("integration \(id)") }
        return row
    }

    static func optionalIntegration(_ id: IntegrationID, _ db: Database) throws -> IntegrationRecord? {
        try db.first(
            integrationQuery + " WHERE bots.name = ? AND number = ?", [id.bot.description, id.number], integration)
    }

    static func integration(_ id: IntegrationID, _ db: Database) throws -> IntegrationRecord {
        guard let record = try optionalIntegration(id, db) else { throw Refusal.notFound("integration \(id)") }
        return record
    }

    /// Returns the bot's newest integration of a branch or tag; `nil` if there is none. The result of a pull request is no state of the bot.
    static func latestIntegration(of bot: Name, _ db: Database) throws -> IntegrationRecord? {
        try db.first(
            integrationQuery + " WHERE bots.name = ? AND pull_request IS NULL ORDER BY number DESC LIMIT 1",
            [bot.description], integration)
    }

    /// Returns the columns `state`, `step`, `verdict` and `trigger_failed` as one value.
    static func state(_ row: StoredRow) throws -> IntegrationState {
        switch try row["state"] as String {
        case "queued": .queued
        case "running": .running(try row.value("step") { IntegrationStep(rawValue: $0) })
        default:
            .completed(try row.value("verdict") { Verdict(rawValue: $0) }, triggerFailed: try row["trigger_failed"])
        }
    }

    static func integration(_ row: StoredRow) throws -> IntegrationRecord {
        let bot = try row.name("bot_name")
        return IntegrationRecord(
            id: IntegrationID(bot: bot, number: try row["number"]), rowID: try row["id"],
            repository: try row["url"], commit: try row.value("commit") { CommitID($0) }, ref: try row.ref("ref"),
            cause: try row.value("cause") { Cause(rawValue: $0) }, requestedBy: try row["requested_by"],
            state: try state(row),
            run: try row["run"],
            supersededBy: (try row["newer_number"] as Int?).map { IntegrationID(bot: bot, number: $0) },
            isSkipped: try row["is_skipped"], isRelease: try row["is_release"], isClean: try row["is_clean"],
            recipe: try row.json("recipe", as: Recipe.self),
            subject: try row["subject"], author: try row["author"], committedAt: try row.optionalTime("committed_at"),
            tree: try row["tree"], summary: try row.summary("summary"), reason: try row["reason"],
            pull: try pull(row),
            queuedAt: try row.time("queued_at"), startedAt: try row.optionalTime("started_at"),
            endedAt: try row.optionalTime("ended_at"))
    }
}
