import GRDB
import Model

extension Store {
    /// Inserts rows, one write per batch, so that no transaction holds the writer for long.
    func insertBatches<Item: Sendable>(
        _ operation: String, _ items: [Item], _ insert: @escaping @Sendable (Database, Int, Item) throws -> Void
    ) async throws(StoreError) {
        var next = 0
        while next < items.count {
            next = try await lane.write(operation) { [next] transaction in
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

    /// Deletes rows of a table, one write per batch.
    /// - Parameter key: The column that identifies the matching rows.
    func deleteBatches(
        _ operation: String, from table: String, key: String = "place", where condition: String, _ values: [Int64]
    ) async throws(StoreError) {
        var isDone = false
        while !isDone {
            isDone = try await lane.write(operation) { transaction in
                try transaction.db.change(
                    """
                    DELETE FROM \(table) WHERE \(condition) AND \(key) IN
                        (SELECT \(key) FROM \(table) WHERE \(condition) LIMIT \(Self.batchSize))
                    """,
                    StatementArguments(values + values))
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
