import GRDB
package import Model

/// The issues of an integration as its page shows them: errors and failing tests one by one, warnings by rule.
package struct IssueOverview: Hashable, Sendable {
    /// The warnings of one rule that are neither resolved nor muted.
    package struct Rule: Hashable, Sendable {
        package var category: Finding.Category
        /// The tool's name of the rule; empty for warnings without one.
        package var name: String
        package var count: Int
        /// The number of new ones.
        package var new: Int
        /// The first of them, new ones first.
        package var first: [Issue]
    }

    /// The counts by status and category, without zero counts.
    package var counts: [IssueListing.Count]
    /// Errors, failing tests and trigger errors that are not resolved: new ones first. Muted ones are among them, because they count.
    package var failures: [Issue]
    /// The number of all such issues.
    package var failureCount: Int
    /// The rules with the most warnings first.
    package var rules: [Rule]
    /// Whether every warning belongs to one of `rules`.
    package var hasAllRules: Bool

    /// Returns the number of all issues with a status.
    package func count(of status: Issue.Status) -> Int {
        counts.reduce(0) { $0 + ($1.status == status ? $1.count : 0) }
    }

    /// The most warnings that are folded. Beyond it, some rules and counts are missing.
    package static let maximumFolded = 10_000
    /// The most rules.
    package static let maximumRules = 40
    /// The number of warnings that are returned for each rule.
    package static let shownOfRule = 5
}

/// How often a test failed in the latest integrations of a branch.
package struct FailureShare: Hashable, Sendable {
    package var failed: Int
    /// The number of integrations that were examined.
    package var integrations: Int
}

extension Store {
    private static let failing: [Finding.Category] = [.error, .testFailure, .triggerError]
    private static let unmuted: [Issue.Status] = [.new, .unresolved]

    /// Returns the issues of an integration for its page. It is empty before the issues are complete.
    /// - Parameter failures: The most errors and failing tests.
    package func issueOverview(of id: IntegrationID, failures: Int) async throws(StoreError) -> IssueOverview {
        try await read("read the issues of \(id)") { db in
            var overview = IssueOverview(counts: [], failures: [], failureCount: 0, rules: [], hasAllRules: true)
            guard let set = try Self.issueSet(of: id, db) else { return overview }
            overview.counts = try Self.issueCounts(set, db)
            let columns = IssueColumns()
            for status in [Issue.Status.new, .unresolved, .silenced] {
                for category in Self.failing {
                    let count = overview.counts.first { $0.status == status && $0.category == category }?.count ?? 0
                    overview.failureCount += count
                    let left = failures - overview.failures.count
                    guard count > 0, left > 0 else { continue }
                    overview.failures += try db.all(
                        Self.issuePartQuery, [set.row, set.number, status.rawValue, category.rawValue, left, 0]
                    ) { try Self.issue($0, columns) }
                }
            }
            try Self.fold(set, into: &overview, db)
            return overview
        }
    }

    private static func issueCounts(
        _ set: (row: Int64, number: Int64), _ db: Database
    ) throws -> [IssueListing.Count] {
        try db.all(issueCountsQuery, [set.row, set.number]) { row in
            IssueListing.Count(
                status: try row.value("status") { Issue.Status(rawValue: $0) },
                category: try row.value("category") { Finding.Category(rawValue: $0) }, count: try row[2])
        }
    }

    private static func fold(
        _ set: (row: Int64, number: Int64), into overview: inout IssueOverview, _ db: Database
    ) throws {
        let warnings = overview.counts.filter { unmuted.contains($0.status) && !failing.contains($0.category) }
        let total = warnings.reduce(0) { $0 + $1.count }
        guard total > 0 else { return }
        let found: [(rule: IssueOverview.Rule, place: Int64)] = try db.all(
            foldingQuery,
            [
                set.row, set.number, IssueOverview.maximumFolded, IssueOverview.shownOfRule,
                IssueOverview.maximumRules * IssueOverview.shownOfRule,
            ]
        ) { row in
            (
                IssueOverview.Rule(
                    category: try row.value("category") { Finding.Category(rawValue: $0) }, name: try row["rule"],
                    count: try row["total"], new: try row["fresh"], first: []), try row["place"]
            )
        }
        let columns = IssueColumns()
        for (rule, place) in found {
            let issue = try db.first(
                "SELECT * FROM issues WHERE integration = ? AND issue_set = ? AND place = ?",
                [set.row, set.number, place]
            ) { try Self.issue($0, columns) }
            guard let issue else { continue }
            if let last = overview.rules.last, last.name == rule.name, last.category == rule.category {
                overview.rules[overview.rules.count - 1].first.append(issue)
            } else if overview.rules.count < IssueOverview.maximumRules {
                var rule = rule
                rule.first = [issue]
                overview.rules.append(rule)
            }
        }
        overview.hasAllRules = overview.rules.reduce(0) { $0 + $1.count } == total
    }

    /// Finds the first warnings of each rule with the rule's count, in one pass over at most `maximumFolded` of them.
    private static let foldingQuery = """
        SELECT * FROM (SELECT place, category, rule, count(*) OVER rules AS total,
                sum(status = 'new') OVER rules AS fresh, row_number() OVER ordered AS number
            FROM (SELECT place, category, rule, status, path, line FROM issues INDEXED BY issues_shown
                WHERE integration = ?1 AND issue_set = ?2 AND status IN ('new', 'unresolved')
                AND category IN ('warning', 'analyzer-warning') LIMIT ?3)
            WINDOW rules AS (PARTITION BY category, rule), ordered AS (PARTITION BY category, rule
                ORDER BY status, path, line, place))
        WHERE number <= ?4 ORDER BY total DESC, category, rule, number LIMIT ?5
        """

    /// The number of integrations in which failures are counted.
    private static let examinedIntegrations = 20

    /// Returns how often tests failed in the latest completed integrations of an integration's branch, up to this one.
    /// - Parameter tests: Full names. Those that the bot never had are missing in the result.
    package func failureShares(
        of tests: [String], in record: IntegrationRecord
    ) async throws(StoreError) -> [String: FailureShare] {
        if tests.isEmpty { return [:] }
        return try await read("count the failures in the last integrations before \(record.id)") { db in
            let recent: [Int64] = try db.all(
                """
                SELECT integrations.id FROM integrations WHERE bot = (SELECT id FROM bots WHERE name = ?1) AND ref = ?2
                AND number <= ?3 AND state = 'completed' AND removed_at IS NULL
                AND verdict NOT IN ('canceled', 'checkout-error', 'internal-error')
                ORDER BY number DESC LIMIT \(Self.examinedIntegrations)
                """, [record.id.bot.description, record.ref.description, record.id.number]
            ) { try $0[0] }
            var shares: [String: FailureShare] = [:]
            for test in tests {
                guard let found = try Self.tests(test, of: record.id.bot, db).first else { continue }
                let failed = try recent.count { integration in
                    try db.first(
                        """
                        SELECT 1 FROM attempts JOIN test_rows ON test_rows.attempt = attempts.id AND test = ?2
                        AND outcome IN ('failed', 'crashed') WHERE integration = ?1 LIMIT 1
                        """, [integration, found.test]
                    ) { _ in true } ?? false
                }
                shares[test] = FailureShare(failed: failed, integrations: recent.count)
            }
            return shares
        }
    }
}
