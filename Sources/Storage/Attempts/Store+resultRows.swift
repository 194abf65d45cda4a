import GRDB
import Model

/// Rows that `deleteBatches` deletes.
enum RowDeletion {
    /// The tables with results of attempts that can be many.
    enum ResultTable: String, CaseIterable {
        case steps, findings
        case logPlaces = "log_places"
        case testRows = "test_rows"
        case testRecords = "test_records"
        case coverage, artifacts
    }

    case results(ResultTable, attempt: Int64)
    /// Issues of an integration; of each set if `set` is `nil`.
    case issues(integration: Int64, set: Int64?)
    /// Messages that are sent or ended otherwise, up to a row or until a time.
    case endedMessages(upTo: Int64, before: Timestamp)

    fileprivate var table: String {
        switch self {
        case .results(let table, _): table.rawValue
        case .issues: "issues"
        case .endedMessages: "outbox"
        }
    }

    /// The column that tells the selected rows apart.
    fileprivate var key: String {
        switch self {
        case .results(.steps, _), .results(.findings, _), .results(.logPlaces, _), .results(.artifacts, _), .issues:
            "place"
        case .results(.testRows, _): "test"
        case .results(.testRecords, _), .results(.coverage, _): "attempt"
        case .endedMessages: "id"
        }
    }

    fileprivate var condition: String {
        switch self {
        case .results: "attempt = ?"
        case .issues(_, nil): "integration = ?"
        case .issues: "integration = ? AND issue_set = ?"
        case .endedMessages: "state NOT IN ('waiting', 'sending') AND (id <= ? OR ended_at < ?)"
        }
    }

    fileprivate var values: [Int64] {
        switch self {
        case .results(_, let attempt): [attempt]
        case .issues(let integration, let set): [integration] + (set.map { [$0] } ?? [])
        case .endedMessages(let row, let time): [row, time.millisecondsSinceEpoch]
        }
    }
}

extension Store {
    /// Inserts rows, one write per batch, so that no transaction holds the writer for long.
    func insertBatches<Item: Sendable>(
        _ operation: String, _ items: [Item], _ insert: @escaping @Sendable (Database, Int, Item) throws -> Void
    ) async throws(StoreError) {
        var next = 0
        while next < items.count {
            next = try await writer.write(operation) { [next] transaction in
                try Self.insertBatch(items[next...]) { try insert(transaction.db, $0, items[$0]) }
            }
        }
    }

    /// Inserts the first remaining rows: at least one, and at most `batchSize`, until `time` has passed.
    /// - Returns: The index of the next row.
    static func insertBatch<Item>(
        _ items: ArraySlice<Item>, time: Duration = batchTime, _ insert: (Int) throws -> Void
    ) rethrows -> Int {
        let start = ContinuousClock.now
        for place in items.indices.prefix(batchSize) {
            try insert(place)
            if ContinuousClock.now - start >= time { return place + 1 }
        }
        return min(items.startIndex + batchSize, items.endIndex)
    }

    /// Deletes rows, one write per batch.
    func deleteBatches(_ operation: String, _ deletion: RowDeletion) async throws(StoreError) {
        let (table, key, condition) = (deletion.table, deletion.key, deletion.condition)
        var isDone = false
        while !isDone {
            isDone = try await writer.write(operation) { transaction in
                try transaction.db.change(
                    """
                    DELETE FROM \(table) WHERE \(condition) AND \(key) IN
                        (SELECT \(key) FROM \(table) WHERE \(condition) LIMIT \(Self.batchSize))
                    """,
                    StatementArguments(deletion.values + deletion.values))
                return transaction.db.changesCount < Self.batchSize
            }
        }
    }

    static func insert(_ stored: StoredFinding, attempt: Int64, place: Int, _ db: Database) throws {
        let finding = stored.finding
        try db.cachedStatement(
            sql: """
                INSERT OR REPLACE INTO findings
                    (attempt, place, fingerprint, category, message, rule, path, line, "column", content, step)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """
        ).execute(
            arguments: [
                attempt, place, stored.fingerprint, finding.category.rawValue,
                finding.message.kept(Finding.maximumMessageBytes), finding.rule.kept, finding.path?.kept, finding.line,
                finding.column, stored.content, stored.step?.rawValue,
            ])
    }

    static func finding(_ row: StoredRow) throws -> Finding {
        Finding(
            category: try row.value("category") { Finding.Category(rawValue: $0) }, message: try row["message"],
            rule: try row["rule"], path: try row["path"], line: try row["line"], column: try row["column"])
    }

    static func insert(_ artifact: Artifact, attempt: Int64, place: Int, _ db: Database) throws {
        try db.change(
            """
            INSERT OR REPLACE INTO artifacts (attempt, place, configuration, path, size, sha256)
            VALUES (?, ?, ?, ?, ?, ?)
            """,
            [
                attempt, place, artifact.configuration?.description, artifact.path, artifact.size.bytes,
                artifact.sha256,
            ])
    }
}
