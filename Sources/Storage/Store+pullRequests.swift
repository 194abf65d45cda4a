import GRDB
package import Model

extension Store {
    /// Open pull requests of a repository that a look asks for; of more, those with the highest numbers.
    package static let maximumOpenPulls = 2000

    /// The open pull requests of a repository, newest first, at most `maximumOpenPulls`.
    package func openPulls(of repository: String) async throws(StoreError) -> [PullRequestRecord] {
        try await read("read the open pull requests of \(repository)") { db in
            try db.all(
                """
                SELECT * FROM pull_requests WHERE repository = (SELECT id FROM repositories WHERE url = ?) AND is_open = 1
                ORDER BY number DESC LIMIT \(Self.maximumOpenPulls)
                """, [repository], Self.pullRequest)
        }
    }

    /// The newest integration of each pull request of a bot, by its number.
    package func latestOfPulls(of bot: Name) async throws(StoreError) -> [Int: IntegrationRecord] {
        try await read("read the integrations of pull requests of \(bot)") { db in
            let records = try db.all(
                Self.integrationQuery + """
                     WHERE integrations.id IN (SELECT max(id) FROM integrations
                    WHERE bot = (SELECT id FROM bots WHERE name = ?) AND pull_request IS NOT NULL GROUP BY pull_request
                    ORDER BY max(id) DESC LIMIT \(Self.maximumOpenPulls))
                    """, [bot.description], Self.integration)
            return Dictionary(records.compactMap { record in record.pull.map { ($0.number, record) } }) { $1 }
        }
    }

    static func pullRequest(_ row: Row) throws -> PullRequestRecord {
        PullRequestRecord(
            number: row["number"], ref: try row.ref("ref"), place: try row.ref("place"), base: try row.ref("base"),
            isOpen: row["is_open"], hasChanged: row["has_changed"], head: try row.optional("head") { CommitID($0) },
            source: (row["source"] as String?).map { RefName($0) }, generation: row["generation"])
    }

    /// Stores what an event says of a pull request, with the event; one that the forge sent before another that came first
    /// changes nothing.
    static func note(_ claim: PullRequestClaim, of repository: Int64, _ db: Database) throws {
        try db.change(
            """
            INSERT INTO pull_requests (repository, number, ref, place, base, is_open, told_at)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
            ON CONFLICT (repository, number) DO UPDATE SET
                has_changed = has_changed OR base <> excluded.base OR (excluded.is_open AND NOT is_open),
                place = excluded.place, base = excluded.base, is_open = excluded.is_open, told_at = excluded.told_at
            WHERE told_at IS NULL OR excluded.told_at IS NULL OR excluded.told_at >= told_at
            """,
            [
                repository, claim.number, claim.ref.description, claim.place.description, claim.base.description,
                claim.isOpen, claim.toldAt?.millisecondsSinceEpoch,
            ])
    }

    /// The integration of just this head into just this base that was not canceled, the newest; a canceled one says nothing of it.
    static func integration(
        of pull: SeenPullRequest, bot: Int64, _ db: Database
    ) throws -> IntegrationRecord? {
        try db.first(
            integrationQuery + """
                 WHERE bot = ? AND pull_request = ? AND integrations.base = ? AND integrations.head = ?
                AND verdict IS NOT 'canceled' ORDER BY integrations.id DESC LIMIT 1
                """,
            [bot, pull.number, pull.base.description, pull.head.description], integration)
    }

    /// Who approved just this head for just this base.
    static func approver(of pull: SeenPullRequest, bot: Int64, _ db: Database) throws -> String? {
        try db.first(
            "SELECT person FROM pull_approvals WHERE bot = ? AND number = ? AND base = ? AND head = ?",
            [bot, pull.number, pull.base.description, pull.head.description]
        ) { $0[0] }
    }

    /// What people read of a fork's head that nobody has approved.
    package static func awaitsApproval(_ pull: SeenPullRequest, bot: Name) -> String {
        "its head is a fork's and waits for an operator: martlet approve \(bot)!\(pull.number) --commit \(pull.head)"
    }
}
