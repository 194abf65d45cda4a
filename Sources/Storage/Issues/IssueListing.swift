import GRDB
package import Model

/// Part of an integration's issues in page order, with the counts of all of them.
package struct IssueListing: Hashable, Sendable {
    /// The number of an integration's issues of one status and category.
    package struct Count: Hashable, Sendable {
        package var status: Issue.Status
        package var category: Finding.Category
        package var count: Int
    }

    /// The counts in the order of the listing, without zero counts.
    package var counts: [Count]
    package var items: [Issue]

    /// The number of all issues of the integration.
    package var total: Int { counts.reduce(0) { $0 + $1.count } }

    /// Returns the number of all issues with a status.
    package func count(of status: Issue.Status) -> Int {
        counts.reduce(0) { $0 + ($1.status == status ? $1.count : 0) }
    }
}

/// A set of texts of which equal ones of several findings share one copy. Most of 100,000 findings have one of a few rules, and a file usually has
/// several findings.
final class SharedTexts {
    private var texts: Set<String> = []
    /// The most texts that are shared. Later texts keep their own copy.
    private static let limit = 10_000

    /// Replaces a finding's rule, path and message with equal texts of earlier findings.
    func share(_ finding: inout Finding) {
        finding.rule = shared(finding.rule)
        finding.path = finding.path.map(shared)
        finding.message = shared(finding.message)
    }

    private func shared(_ text: String) -> String {
        // Strings of at most 15 bytes are stored inline and need no memory of their own.
        if text.utf8.count <= 15 { return text }
        if let index = texts.firstIndex(of: text) { return texts[index] }
        if texts.count < Self.limit { texts.insert(text) }
        return text
    }
}

extension Store {
    /// Returns part of an integration's issues by status, category, path and line: new ones first, then unresolved, resolved and muted ones. It is
    /// empty before the issues are complete.
    ///
    /// Only the returned issues are read, independent of the total; the others are counted in an index.
    /// - Parameters:
    ///   - limit: The most issues to return.
    ///   - after: The number of issues to skip before them.
    package func issueListing(of id: IntegrationID, limit: Int, after: Int = 0) async throws(StoreError) -> IssueListing
    {
        try await read("list the issues of \(id)") { db in
            guard let set = try Self.issueSet(of: id, db) else { return IssueListing(counts: [], items: []) }
            let counted: [IssueListing.Count] = try db.all(Self.issueCountsQuery, [set.row, set.number]) { row in
                IssueListing.Count(
                    status: try row.value("status") { Issue.Status(rawValue: $0) },
                    category: try row.value("category") { Finding.Category(rawValue: $0) }, count: try row[2])
            }
            let counts = Issue.Status.allCases.flatMap { status in
                Finding.Category.allCases.compactMap { category in
                    counted.first { $0.status == status && $0.category == category }
                }
            }
            let columns = IssueColumns()
            var (items, start): ([Issue], Int) = ([], 0)
            for group in counts {
                let (skipped, left) = (max(0, after - start), limit - items.count)
                start += group.count
                guard left > 0, skipped < group.count else { continue }
                items += try db.all(
                    Self.issuePartQuery,
                    [set.row, set.number, group.status.rawValue, group.category.rawValue, left, skipped]
                ) { try Self.issue($0, columns) }
            }
            return IssueListing(counts: counts, items: items)
        }
    }

    /// Counts by reading only the index `issues_shown`.
    static let issueCountsQuery = """
        SELECT status, category, count(*) FROM issues INDEXED BY issues_shown
        WHERE integration = ? AND issue_set = ? GROUP BY status, category
        """

    /// Finds the places in the index `issues_shown`, then reads their rows.
    static let issuePartQuery = """
        SELECT * FROM issues WHERE integration = ?1 AND issue_set = ?2 AND place IN (SELECT place
            FROM issues INDEXED BY issues_shown WHERE integration = ?1 AND issue_set = ?2 AND status = ?3
            AND category = ?4 ORDER BY path, line, place LIMIT ?5 OFFSET ?6)
        ORDER BY path, line, place
        """

    /// Returns an integration's row and the number of its visible set of issues; `nil` if there is no such integration.
    static func issueSet(of id: IntegrationID, _ db: Database) throws -> (row: Int64, number: Int64)? {
        try db.first(
            """
            SELECT integrations.id, issue_set FROM integrations JOIN bots ON bots.id = bot
            WHERE bots.name = ? AND number = ?
            """, [id.bot.description, id.number]
        ) { (try $0[0], try $0[1]) }
    }

    /// Returns the configurations that have issues, all of which are muted.
    package func silencedConfigurations(
        of id: IntegrationID, among configurations: [Name]
    ) async throws(StoreError) -> Set<Name> {
        if configurations.isEmpty { return [] }
        return try await read("read what is muted in \(id)") { db in
            guard let set = try Self.issueSet(of: id, db) else { return [] }
            func has(_ configuration: Name, _ statuses: [Issue.Status]) throws -> Bool {
                try statuses.contains { status in
                    try db.first(
                        """
                        SELECT 1 FROM issues WHERE integration = ? AND issue_set = ? AND status = ? AND EXISTS (SELECT 1
                            FROM json_each(iif(json_valid(configurations), configurations, '[]')) WHERE value = ?) LIMIT 1
                        """, [set.row, set.number, status.rawValue, configuration.description]
                    ) { _ in true } ?? false
                }
            }
            return try Set(configurations.filter { try has($0, [.silenced]) && !has($0, [.new, .unresolved]) })
        }
    }
}
