import GRDB
package import Model

/// The branch that stands for a bot: its repository's default branch. A bot that has no integration of that branch, because it watches only release
/// branches for example, has no such branch; its newest integration of any branch or tag stands for it.
extension Store {
    /// The row of the integration that is a bot's latest; the query has a row of `bots` and one of its repository.
    static let latestOfBot = """
        coalesce(
            (SELECT integration FROM newest_of_refs WHERE newest_of_refs.bot = bots.id AND ref = default_branch),
            (SELECT max(integration) FROM newest_of_refs WHERE newest_of_refs.bot = bots.id))
        """

    /// The branch that stands for a bot; NULL if it has none. The query has a row of `bots` and one of its repository.
    static let mainRef =
        "(SELECT ref FROM newest_of_refs WHERE newest_of_refs.bot = bots.id AND ref = default_branch)"

    /// Returns the default branch of the bot's repository if the bot has an integration of it; `nil` otherwise, and for an unknown bot.
    package func mainRef(of bot: Name) async throws(StoreError) -> RefName? {
        try await read("read the default branch of \(bot)") { db in try Self.mainRef(of: bot, db) }
    }

    static func mainRef(of bot: Name, _ db: Database) throws -> RefName? {
        try db.first(
            """
            SELECT \(mainRef) AS main FROM bots JOIN repositories ON repositories.id = bots.repository WHERE name = ?
            """, [bot.description]
        ) { try $0.optional("main") { RefName($0) } } ?? nil
    }

    /// Returns the latest integration of a ref of a bot, whatever its state; `nil` if there is none.
    /// - Parameter ref: A ref; `nil` for the branch that stands for the bot, or the newest branch or tag if it has none. The result of a pull request
    ///   is no state of the bot.
    package func latestIntegration(
        of bot: Name, ref: RefName? = nil
    ) async throws(StoreError) -> IntegrationRecord? {
        try await read("read the latest integration of \(bot)") { db in
            try Self.latestIntegration(of: bot, ref: ref, db)
        }
    }

    static func latestIntegration(of bot: Name, ref: RefName? = nil, _ db: Database) throws -> IntegrationRecord? {
        guard let ref else {
            return try db.first(
                integrationQuery + """
                     WHERE integrations.id = (SELECT \(latestOfBot) FROM bots
                        JOIN repositories ON repositories.id = bots.repository WHERE bots.name = ?)
                    """, [bot.description], integration)
        }
        return try db.first(
            integrationQuery + " WHERE bots.name = ? AND ref = ? ORDER BY number DESC LIMIT 1",
            [bot.description, ref.description], integration)
    }

    static let lastCompletedQuery = """
        SELECT \(outlineColumns) FROM bots JOIN repositories ON repositories.id = bots.repository
        CROSS JOIN integrations ON integrations.id = CASE WHEN \(mainRef) IS NOT NULL
            THEN (SELECT last.id FROM integrations AS last WHERE last.bot = bots.id AND last.ref = default_branch
                AND last.state = 'completed' AND last.is_skipped = 0 AND last.removed_at IS NULL
                ORDER BY last.number DESC LIMIT 1)
            ELSE (SELECT last.id FROM integrations AS last WHERE last.bot = bots.id AND last.state = 'completed'
                AND last.is_skipped = 0 AND last.pull_request IS NULL AND last.removed_at IS NULL
                ORDER BY last.number DESC LIMIT 1) END
        WHERE is_retired = 0
        """

    /// Returns the newest completed integration of each bot that is not retired, without skipped ones: of the branch that stands for it, or of any
    /// branch or tag if it has none. It runs one statement, independent of the number of bots.
    package func lastCompleted() async throws(StoreError) -> [Name: IntegrationOutline] {
        try await read("read the last result of each bot") { db in try Self.lastCompleted(db) }
    }

    static func lastCompleted(_ db: Database) throws -> [Name: IntegrationOutline] {
        let columns = OutlineColumns()
        let all = try db.all(lastCompletedQuery) { try outline($0, columns) }
        return Dictionary(all.map { ($0.id.bot, $0) }) { first, _ in first }
    }
}
