import GRDB
package import Model

extension Store {
    /// Stores the lines of an attempt's log that findings and failing tests are about, in place of those that an interrupted call stored.
    static func insert(_ places: [LogPlace], attempt: Int64, _ db: Database) throws {
        try db.change("DELETE FROM log_places WHERE attempt = ?", [attempt])
        for (place, found) in places.prefix(LogPlace.maximumCount).enumerated() {
            try db.cachedStatement(
                sql: """
                    INSERT INTO log_places (attempt, place, log_line, category, subject, path, line)
                    VALUES (?, ?, ?, ?, ?, ?, ?)
                    """
            ).execute(
                arguments: [
                    attempt, place, found.line, found.category.rawValue, found.key.subject.kept, found.key.path?.kept,
                    found.key.line,
                ])
        }
    }

    /// Returns the lines of the log of an attempt that findings and failing tests are about, by line; empty before the attempt is processed.
    package func logPlaces(of id: AttemptID) async throws(StoreError) -> [LogPlace] {
        try await logPlaces(of: id.integration, attempt: id.attempt, job: id.job)[id, default: []]
    }

    /// Returns these lines of all jobs of an integration, by attempt: of each job its latest processed attempt.
    /// - Parameters:
    ///   - attempt: The number of the processed attempt of each job to use instead.
    ///   - job: Only this job; `nil`: all.
    package func logPlaces(
        of id: IntegrationID, attempt: Int? = nil, job: Name? = nil
    ) async throws(StoreError) -> [AttemptID: [LogPlace]] {
        try await read("read the log places of \(id)") { db in
            let rows = try db.all(
                """
                SELECT log_places.*, job, attempts.attempt AS try FROM log_places
                JOIN attempts ON attempts.id = log_places.attempt
                WHERE \(Self.isMeant) AND job = coalesce(?4, job) ORDER BY attempts.id, log_line, place
                """,
                [id.bot.description, id.number, attempt, job?.description]
            ) { row in
                let attempt = AttemptID(integration: id, job: try row.name("job"), attempt: try row["try"])
                let key = LogPlace.Key(subject: try row["subject"], path: try row["path"], line: try row["line"])
                return (
                    attempt,
                    LogPlace(
                        key: key, category: try row.value("category") { Finding.Category(rawValue: $0) },
                        line: try row["log_line"])
                )
            }
            return Dictionary(grouping: rows, by: \.0).mapValues { $0.map(\.1) }
        }
    }
}
