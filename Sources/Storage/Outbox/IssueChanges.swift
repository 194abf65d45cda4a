import GRDB
package import Model

extension Store {
    /// The numbers of new and resolved issues of an integration.
    package struct IssueChanges: Hashable, Sendable {
        package var new = 0
        /// Tests that failed before and pass.
        package var fixedTests = 0
        /// Other issues that are resolved.
        package var fixedOthers = 0

        package init(new: Int = 0, fixedTests: Int = 0, fixedOthers: Int = 0) {
            self.new = new
            self.fixedTests = fixedTests
            self.fixedOthers = fixedOthers
        }
    }

    /// Returns the numbers of an integration's new and resolved issues.
    package func issueChanges(of id: IntegrationID) async throws(StoreError) -> IssueChanges {
        try await read("count the new issues of \(id)") { db in
            var changes = IssueChanges()
            let rows: [(status: Issue.Status, isTest: Bool, count: Int)] = try db.all(
                """
                SELECT status, category = ?3 AS is_test, count(*) AS count FROM issues
                JOIN integrations ON integrations.id = integration AND integrations.issue_set = issues.issue_set
                JOIN bots ON bots.id = bot WHERE bots.name = ?1 AND number = ?2 AND status IN (?4, ?5)
                GROUP BY status, is_test
                """,
                [
                    id.bot.description, id.number, Finding.Category.testFailure.rawValue, Issue.Status.new.rawValue,
                    Issue.Status.resolved.rawValue,
                ]
            ) { (try $0.value("status") { Issue.Status(rawValue: $0) }, try $0["is_test"], try $0["count"]) }
            for row in rows {
                switch (row.status, row.isTest) {
                case (.new, _): changes.new += row.count
                case (_, true): changes.fixedTests += row.count
                case (_, false): changes.fixedOthers += row.count
                }
            }
            return changes
        }
    }
}

extension Store {
    /// The numbers of an integration's issues that notifications report, independent of what its page shows.
    package struct NotifiedIssues: Hashable, Sendable {
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
    package func notifiedIssues(of id: IntegrationID) async throws(StoreError) -> NotifiedIssues {
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
            ) { NotifiedIssues(newTests: try $0["tests"], newOthers: try $0["others"], resolved: try $0["resolved"]) }
                ?? NotifiedIssues()
        }
    }
}
