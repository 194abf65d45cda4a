import GRDB
package import Model

/// A bot as the overview page shows it.
package struct BotOverview: Hashable, Sendable {
    /// The newest integration of a branch or tag.
    package struct Branch: Hashable, Sendable {
        package var ref: RefName
        package var number: Int
        package var state: IntegrationState
        /// See `IntegrationRecord.isSkipped`.
        package var isSkipped: Bool
        package var subject: String?
        package var summary: Summary?
        package var queuedAt: Timestamp
    }

    package var name: Name
    /// The repository as the bot's file writes it.
    package var repository: String
    /// Whether the bot's file is gone.
    package var isRetired: Bool
    /// See `RepositoryRecord.lastError`; `nil` for a retired bot.
    package var lookError: String?
    /// See `RepositoryRecord.isEmpty`; false for a retired bot.
    package var isEmpty: Bool
    /// The most recently integrated branches and tags, newest first, without pull requests.
    package var branches: [Branch]

    package init(
        name: Name, repository: String, isRetired: Bool, lookError: String?, isEmpty: Bool, branches: [Branch]
    ) {
        self.name = name
        self.repository = repository
        self.isRetired = isRetired
        self.lookError = lookError
        self.isEmpty = isEmpty
        self.branches = branches
    }
}

extension Store {
    static let botOverviewsQuery = """
        SELECT bots.id, name, url, is_retired, last_error, last_look IS NOT NULL AND last_error IS NULL
            AND NOT EXISTS (SELECT 1 FROM refs WHERE repository = repositories.id AND head IS NOT NULL) AS is_empty
        FROM bots JOIN repositories ON repositories.id = repository ORDER BY name
        """

    /// `CROSS JOIN` fixes the order of the tables, so that the planner never begins with all integrations.
    static let branchOverviewsQuery = """
        SELECT bots.id, integrations.id, ref, number, state, step, verdict, trigger_failed, is_skipped, subject, summary,
            queued_at
        FROM bots CROSS JOIN integrations ON integrations.id IN
            (SELECT integration FROM newest_of_refs WHERE newest_of_refs.bot = bots.id ORDER BY integration DESC LIMIT ?)
        """

    /// Returns every bot that was ever registered, by name, with its branches. It runs two statements, independent of the number of bots.
    /// - Parameter branches: The most branches and tags per bot.
    package func botOverviews(branches limit: Int) async throws(StoreError) -> [BotOverview] {
        try await read("read the overview of all bots") { db in try Self.botOverviews(branches: limit, db) }
    }

    static func botOverviews(branches limit: Int, _ db: Database) throws -> [BotOverview] {
        var branches: [Int64: [(row: Int64, branch: BotOverview.Branch)]] = [:]
        let _: [Void] = try db.all(branchOverviewsQuery, [limit]) { row in
            let branch = BotOverview.Branch(
                ref: try row.ref("ref"), number: try row[3], state: try state(row), isSkipped: try row[8],
                subject: try row[9], summary: try row.summary("summary"), queuedAt: try row.time("queued_at"))
            branches[try row[0], default: []].append((try row[1], branch))
        }
        return try db.all(botOverviewsQuery) { row in
            let isRetired: Bool = try row[3]
            return BotOverview(
                name: try row.name("name"), repository: try row[2], isRetired: isRetired,
                lookError: isRetired ? nil : try row[4], isEmpty: try row[5] && !isRetired,
                branches: (branches[try row[0]] ?? []).sorted { $0.row > $1.row }.map(\.branch))
        }
    }
}
