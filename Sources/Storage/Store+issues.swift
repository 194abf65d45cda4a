import GRDB
package import Model

extension Store {
    /// Stores an integration's issues of every status with its summary. They become visible at once; a set that was
    /// stored before, as a rerun finds it, is replaced.
    /// - Throws: `tooLarge` above `AttemptResults.maximumRows`; `notFound`.
    package func completeIssues(
        of id: IntegrationID, issues: [Issue], summary: Summary, at time: Timestamp
    ) async throws(StoreError) {
        let operation = "store the issues of \(id)"
        guard issues.count <= AttemptResults.maximumRows else {
            throw StoreError(
                code: .tooLarge, operation: operation,
                message: "\(issues.count) issues are more than \(AttemptResults.maximumRows)")
        }
        let (row, visible) = try await lane.write(operation) { transaction in
            let row = try Self.integrationRow(id, transaction.db)
            let visible = try Int64.fetchOne(
                transaction.db, sql: "SELECT issue_set FROM integrations WHERE id = ?", arguments: [row])
            return (row, visible ?? 0)
        }
        let next = visible + 1
        // Leftovers of a try that did not get to its end.
        try await deleteBatches(operation, from: "issues", where: "integration = ? AND issue_set = ?", [row, next])
        try await insertBatches(operation, issues) { db, place, issue in
            try Self.insert(issue, integration: row, set: next, place: place, db)
        }
        try await lane.write(operation) { transaction in
            try transaction.db.execute(
                sql: "UPDATE integrations SET issue_set = ?, summary = ? WHERE id = ?",
                arguments: [next, try jsonText(summary), row])
            transaction.changed(.integration(id))
        }
        try await deleteBatches(operation, from: "issues", where: "integration = ? AND issue_set = ?", [row, visible])
    }

    /// An integration's issues in the order in which they were stored; none before they are complete.
    package func issues(of id: IntegrationID) async throws(StoreError) -> [Issue] {
        try await read("read the issues of \(id)") { db in
            try Row.fetchAll(
                db,
                sql: """
                    SELECT issues.* FROM issues JOIN integrations ON integrations.id = integration
                    AND integrations.issue_set = issues.issue_set JOIN bots ON bots.id = bot
                    WHERE bots.name = ? AND number = ? ORDER BY place
                    """,
                arguments: [id.bot.description, id.number]
            ).map { row in
                Issue(
                    fingerprint: row["fingerprint"], status: try row.value("status") { Issue.Status(rawValue: $0) },
                    finding: try Self.finding(row), age: row["age"],
                    configurations: try row.json("configurations", as: [Name].self) ?? [])
            }
        }
    }

    private static func insert(_ issue: Issue, integration: Int64, set: Int64, place: Int, _ db: Database) throws {
        let finding = issue.finding
        try db.cachedStatement(
            sql: """
                INSERT OR REPLACE INTO issues (integration, issue_set, place, fingerprint, status, category, message, rule,
                    path, line, "column", age, configurations) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """
        ).execute(
            arguments: [
                integration, set, place, issue.fingerprint, issue.status.rawValue, finding.category.rawValue,
                finding.message.kept(Finding.maximumMessageBytes), finding.rule.kept, finding.path?.kept, finding.line,
                finding.column, issue.age, try jsonText(issue.configurations),
            ])
    }
}
