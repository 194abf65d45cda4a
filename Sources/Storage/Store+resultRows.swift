import GRDB
import Model

extension Store {
    /// Inserts rows, one write a batch, so that no transaction holds the writer for long.
    func insertBatches<Item: Sendable>(
        _ operation: String, _ items: [Item], _ insert: @escaping @Sendable (Database, Int, Item) throws -> Void
    ) async throws(StoreError) {
        for start in stride(from: 0, to: items.count, by: Self.batchSize) {
            let batch = Array(items[start..<min(start + Self.batchSize, items.count)])
            try await lane.write(operation) { transaction in
                for (offset, item) in batch.enumerated() { try insert(transaction.db, start + offset, item) }
            }
        }
    }

    /// Deletes rows of a table, one write a batch.
    /// - Parameter key: The column that tells the rows apart.
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

    static func finding(_ row: Row) throws -> Finding {
        Finding(
            category: try row.value("category") { Finding.Category(rawValue: $0) }, message: row["message"],
            rule: row["rule"], path: row["path"], line: row["line"], column: row["column"])
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
