import GRDB
package import Model

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
