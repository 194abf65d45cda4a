import GRDB
package import Model

/// An integration as it is stored.
package struct IntegrationRecord: Hashable, Sendable {
    package var id: IntegrationID
    /// The row's number, which is the cursor of listings.
    package var rowID: Int64
    package var repository: String
    package var commit: CommitID
    package var ref: RefName
    package var cause: Cause
    package var requestedBy: String?
    package var state: IntegrationState
    /// The number of the current run, counted from 1; each rerun adds one.
    package var run: Int
    /// The newer integration of the same ref that ended this one, or is about to.
    package var supersededBy: IntegrationID?
    /// Whether it was skipped for the stated reason: canceled before any part of it ran.
    package var isSkipped: Bool
    /// Whether it may publish or upload, that is, belongs to the `release` trust domain.
    package var isRelease: Bool
    /// Whether the workspace is emptied first.
    package var isClean: Bool
    /// The recipe that runs; `nil` until it is prepared.
    package var recipe: Recipe?
    package var subject: String?
    package var author: String?
    package var committedAt: Timestamp?
    package var tree: String?
    /// The counts of issues; `nil` until they are complete.
    package var summary: Summary?
    /// The reason for its state; `nil` if the state explains itself.
    package var reason: String?
    /// Its pull request; `nil` for a branch or a tag.
    package var pull: IntegratedPullRequest?
    package var queuedAt: Timestamp
    package var startedAt: Timestamp?
    package var endedAt: Timestamp?

    package init(
        id: IntegrationID, rowID: Int64, repository: String, commit: CommitID, ref: RefName, cause: Cause,
        requestedBy: String? = nil, state: IntegrationState = .queued, run: Int = 1,
        supersededBy: IntegrationID? = nil, isSkipped: Bool = false, isRelease: Bool = false, isClean: Bool = false,
        recipe: Recipe? = nil, subject: String? = nil, author: String? = nil, committedAt: Timestamp? = nil,
        tree: String? = nil, summary: Summary? = nil, reason: String? = nil,
        pull: IntegratedPullRequest? = nil, queuedAt: Timestamp,
        startedAt: Timestamp? = nil, endedAt: Timestamp? = nil
    ) {
        self.id = id
        self.rowID = rowID
        self.repository = repository
        self.commit = commit
        self.ref = ref
        self.cause = cause
        self.requestedBy = requestedBy
        self.state = state
        self.run = run
        self.supersededBy = supersededBy
        self.isSkipped = isSkipped
        self.isRelease = isRelease
        self.isClean = isClean
        self.recipe = recipe
        self.subject = subject
        self.author = author
        self.committedAt = committedAt
        self.tree = tree
        self.summary = summary
        self.reason = reason
        self.pull = pull
        self.queuedAt = queuedAt
        self.startedAt = startedAt
        self.endedAt = endedAt
    }

    /// The commit that users know and that gets the status. For a pull request this is its head, not the merge made from it.
    package var headCommit: CommitID { pull?.head ?? commit }
}

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

/// The commits to compare an integration's commit with, as far as rows record them.
package struct HistoryBefore: Sendable, Hashable {
    /// The commit of the branch's last integration of another commit that has a result.
    package var previous: CommitID?
    /// The repository's default branch at the last scan.
    package var defaultBranch: RefName?
    package var defaultCommit: CommitID?
}

extension Store {
    /// Returns the commits to compare an integration's commit with.
    package func historyBefore(_ id: IntegrationID) async throws(StoreError) -> HistoryBefore {
        try await read("read what came before \(id)") { db in
            var history = HistoryBefore()
            history.previous = try db.first(
                """
                SELECT before."commit" AS previous FROM integrations AS own JOIN bots ON bots.id = own.bot
                JOIN integrations AS before ON before.bot = own.bot AND before.ref = own.ref AND before.number < own.number
                WHERE name = ? AND own.number = ? AND before.state = 'completed' AND before."commit" <> own."commit"
                AND before.verdict NOT IN ('canceled', 'checkout-error', 'internal-error')
                ORDER BY before.number DESC LIMIT 1
                """, [id.bot.description, id.number]
            ) { try $0.value("previous") { CommitID($0) } }
            let branch: (RefName, CommitID)? = try db.first(
                """
                SELECT refs.name AS branch, refs.head AS head FROM integrations JOIN bots ON bots.id = bot
                JOIN repositories ON repositories.id = integrations.repository
                JOIN refs ON refs.repository = repositories.id AND refs.name = default_branch
                WHERE bots.name = ? AND number = ? AND refs.head IS NOT NULL
                """, [id.bot.description, id.number]
            ) { (try $0.ref("branch"), try $0.value("head") { CommitID($0) }) }
            (history.defaultBranch, history.defaultCommit) = (branch?.0, branch?.1)
            return history
        }
    }
}
