import GRDB
package import Model

extension Store {
    /// The numbers of an integration's issues that notifications report, independent of what its page shows.
    package struct ToldIssues: Hashable, Sendable {
        /// New failing tests.
        package var newTests: Int
        /// New errors, analyzer warnings and failed triggers.
        package var newOthers: Int
        /// Issues that were there before and are gone, except for mere warnings.
        package var resolved: Int

        package var new: Int { newTests + newOthers }

        package init(newTests: Int = 0, newOthers: Int = 0, resolved: Int = 0) {
            self.newTests = newTests
            self.newOthers = newOthers
            self.resolved = resolved
        }
    }

    /// Returns the numbers of an integration's issues that notifications report.
    package func toldIssues(of id: IntegrationID) async throws(StoreError) -> ToldIssues {
        try await read("count what is told of \(id)") { db in
            try db.first(
                """
                SELECT count(*) FILTER (WHERE status = 'new' AND category = ?3) AS tests,
                count(*) FILTER (WHERE status = 'new' AND category <> ?3) AS others,
                count(*) FILTER (WHERE status = 'resolved') AS resolved
                FROM integrations JOIN bots ON bots.id = bot
                JOIN issues ON integration = integrations.id AND issues.issue_set = integrations.issue_set
                WHERE name = ?1 AND number = ?2 AND status IN ('new', 'resolved') AND category <> 'warning'
                """, [id.bot.description, id.number, Finding.Category.testFailure.rawValue]
            ) { ToldIssues(newTests: try $0["tests"], newOthers: try $0["others"], resolved: try $0["resolved"]) }
                ?? ToldIssues()
        }
    }
}
