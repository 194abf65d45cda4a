import GRDB
package import Model

extension Store {
    /// Stores an integration's issues of every status with its summary. All of them become visible together and replace an earlier set, as in a
    /// rerun.
    /// - Parameters:
    ///   - event: An event to apply to the integration in the same transaction.
    ///   - reason: See `apply(_:to:at:reason:)`.
    /// - Throws: `illegalTransition`, and no issue becomes visible; `tooLarge` above `AttemptResults.maximumRows`; `notFound`.
    package func completeIssues(
        of id: IntegrationID, issues: [Issue], summary: Summary, at time: Timestamp,
        with event: IntegrationState.Event? = nil, reason: String? = nil
    ) async throws(StoreError) {
        let operation = "store the issues of \(id)"
        guard issues.count <= AttemptResults.maximumRows else {
            throw StoreError(
                code: .tooLarge, operation: operation,
                message: "\(issues.count) issues are more than \(AttemptResults.maximumRows)")
        }
        let (row, visible, isDone) = try await writer.write(operation) { transaction in
            let db = transaction.db
            let row = try Self.integrationRow(id, db)
            let visible: Int64 =
                try db.first("SELECT issue_set FROM integrations WHERE id = ?", [row]) { try $0[0] } ?? 0
            // If there are few issues and no earlier ones, one transaction stores all of them.
            guard issues.count <= Self.batchSize, visible == 0, try !Self.hasIssues(row, db) else {
                return (row, visible, false)
            }
            for (place, issue) in issues.enumerated() {
                try Self.insert(issue, integration: row, set: 1, place: place, db)
            }
            try Self.show(set: 1, summary, of: id, row: row, transaction)
            if let event { try Self.apply(event, to: id, at: time, reason: reason, transaction) }
            return (row, 1, true)
        }
        if isDone { return }
        let next = visible + 1
        // Rows left by a call that did not finish.
        try await deleteBatches(operation, .issues(integration: row, set: next))
        try await insertBatches(operation, issues) { db, place, issue in
            try Self.insert(issue, integration: row, set: next, place: place, db)
        }
        try await writer.write(operation) { transaction in
            try Self.show(set: next, summary, of: id, row: row, transaction)
            if let event { try Self.apply(event, to: id, at: time, reason: reason, transaction) }
        }
        try await deleteBatches(operation, .issues(integration: row, set: visible))
    }

    private static func hasIssues(_ row: Int64, _ db: Database) throws -> Bool {
        try db.first("SELECT EXISTS (SELECT 1 FROM issues WHERE integration = ?)", [row]) { try $0[0] } ?? false
    }

    private static func apply(
        _ event: IntegrationState.Event, to id: IntegrationID, at time: Timestamp, reason: String?,
        _ transaction: StoreTransaction
    ) throws {
        _ = try apply(event, to: try integration(id, transaction.db), at: time, reason: reason, transaction)
    }

    /// Makes a set of issues the visible one and stores the summary.
    private static func show(
        set: Int64, _ summary: Summary, of id: IntegrationID, row: Int64, _ transaction: StoreTransaction
    ) throws {
        try transaction.db.change(
            "UPDATE integrations SET issue_set = ?, summary = ? WHERE id = ?", [set, try jsonText(summary), row])
        transaction.changed(.integration(id))
    }

    /// Returns an integration's issues in the order in which they were stored; empty before they are complete.
    package func issues(of id: IntegrationID) async throws(StoreError) -> [Issue] {
        try await issuePage(of: id, limit: AttemptResults.maximumRows).items
    }

    /// Returns the issues that are not resolved, with which the branch's next integration is compared. There can be 100,000 issues, so equal texts
    /// share their memory, and the array's capacity is reserved in advance.
    package func openIssues(of id: IntegrationID) async throws(StoreError) -> [Issue] {
        try await read("read the open issues of \(id)") { db in
            guard let set = try Self.issueSet(of: id, db) else { return [] }
            let columns = IssueColumns()
            let texts = SharedTexts()
            var issues: [Issue] = []
            let count: Int? = try db.first(
                """
                SELECT count(*) FROM issues INDEXED BY issues_shown WHERE integration = ? AND issue_set = ?
                AND status <> 'resolved'
                """, [set.row, set.number]
            ) { try $0[0] }
            issues.reserveCapacity(count ?? 0)
            let _: [Void] = try db.all(
                "SELECT * FROM issues WHERE integration = ? AND issue_set = ? AND status <> 'resolved' ORDER BY place",
                [set.row, set.number]
            ) { row in
                var issue = try Self.issue(row, columns)
                texts.share(&issue.finding)
                issues.append(issue)
            }
            return issues
        }
    }

    /// Returns part of an integration's issues.
    /// - Parameters:
    ///   - status: If not `nil`, only issues with this status are returned; `category` works in the same way.
    ///   - limit: The most issues to return.
    ///   - after: The `next` of an earlier part.
    package func issuePage(
        of id: IntegrationID, status: Issue.Status? = nil, category: Finding.Category? = nil, limit: Int,
        after: Int = -1
    ) async throws(StoreError) -> Page<Issue> {
        try await read("read the issues of \(id)") { db in
            var (items, last, hasMore) = ([Issue](), 0, false)
            let columns = IssueColumns()
            let _: [Void] = try db.all(
                """
                SELECT issues.* FROM issues JOIN integrations ON integrations.id = integration
                AND integrations.issue_set = issues.issue_set JOIN bots ON bots.id = bot
                WHERE bots.name = ?1 AND number = ?2 AND place > ?3 AND (?4 IS NULL OR status = ?4)
                AND (?5 IS NULL OR category = ?5) ORDER BY place LIMIT ?6
                """,
                [id.bot.description, id.number, after, status?.rawValue, category?.rawValue, limit + 1]
            ) { row in
                if items.count == limit {
                    hasMore = true
                } else {
                    last = try row["place"]
                    items.append(try Self.issue(row, columns))
                }
            }
            return Page(items: items, next: hasMore && !items.isEmpty ? Int64(last) : nil)
        }
    }

    /// The decoded column values that many issues of an integration share.
    struct IssueColumns {
        let configurations = RepeatedJSON<[Name]>("configurations")
        let introducedBy = RepeatedJSON<Introduction>("introduced_by")
        let silence = RepeatedJSON<Silence>("silence")
    }

    static func issue(_ row: StoredRow, _ columns: IssueColumns) throws -> Issue {
        Issue(
            fingerprint: try row["fingerprint"], content: try row["content"],
            status: try row.value("status") { Issue.Status(rawValue: $0) }, finding: try Self.finding(row),
            age: try row["age"], since: try row["since"],
            configurations: try columns.configurations.value(row) ?? [],
            introducedBy: try columns.introducedBy.value(row), silence: try columns.silence.value(row),
            step: try row.optional("step") { JobStep(rawValue: $0) })
    }

    private static func insert(_ issue: Issue, integration: Int64, set: Int64, place: Int, _ db: Database) throws {
        let finding = issue.finding
        try db.cachedStatement(
            sql: """
                INSERT OR REPLACE INTO issues (integration, issue_set, place, fingerprint, status, category, message, rule,
                    path, line, "column", age, configurations, content, since, introduced_by, silence, step)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """
        ).execute(
            arguments: [
                integration, set, place, issue.fingerprint, issue.status.rawValue, finding.category.rawValue,
                finding.message.kept(Finding.maximumMessageBytes), finding.rule.kept, finding.path?.kept, finding.line,
                finding.column, issue.age, try jsonText(issue.configurations), issue.content, issue.since,
                try issue.introducedBy.map { try jsonText($0) }, try issue.silence.map { try jsonText($0) },
                issue.step?.rawValue,
            ])
    }
}
