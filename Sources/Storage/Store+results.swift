import GRDB
package import Model

extension Store {
    /// Stores what processing an attempt came to: rows in batches, then the attempt's `processed` row, with which all
    /// become visible. After a crash in between it is simply called again: leftovers are replaced.
    /// - Throws: `illegalTransition` when the attempt was processed before; `tooLarge` above
    ///   `AttemptResults.maximumRows`; `notFound`.
    package func storeResults(_ results: AttemptResults, of id: AttemptID, at time: Timestamp) async throws(StoreError)
    {
        let operation = "store the results of \(id)"
        let largest = max(results.findings.count, results.tests.count, results.artifacts.count)
        guard largest <= AttemptResults.maximumRows else {
            throw StoreError(
                code: .tooLarge, operation: operation,
                message: "\(largest) findings, tests or artifacts are more than \(AttemptResults.maximumRows)")
        }
        let attempt = try await lane.write(operation) { transaction in
            let row = try Self.attemptRow(id, transaction.db)
            var state = try Self.attempt(row, of: id.integration, transaction.db).state
            try state.apply(.processed(results.verdict))
            return row["id"] as Int64
        }
        for table in ["findings", "tests", "artifacts"] {
            try await deleteBatches(operation, from: table, where: "attempt = ?", [attempt])
        }
        try await insertBatches(operation, results.findings) { db, place, stored in
            try Self.insert(stored, attempt: attempt, place: place, db)
        }
        try await insertBatches(operation, results.tests) { db, place, test in
            try Self.insert(test, attempt: attempt, place: place, db)
        }
        try await insertBatches(operation, results.artifacts) { db, place, artifact in
            try db.cachedStatement(
                sql: """
                    INSERT OR REPLACE INTO artifacts (attempt, place, configuration, path, size, sha256)
                    VALUES (?, ?, ?, ?, ?, ?)
                    """
            ).execute(
                arguments: [
                    attempt, place, artifact.configuration?.description, artifact.path, artifact.size.bytes,
                    artifact.sha256,
                ])
        }
        try await lane.write(operation) { transaction in
            _ = try Self.apply(.processed(results.verdict), to: id, at: time, reason: results.reason, transaction)
            try transaction.db.execute(
                sql: "UPDATE attempts SET analysis = ?, tested = ?, summary = ?, notes = ? WHERE id = ?",
                arguments: [
                    results.analysis.kept, results.tested.kept, try jsonText(Summary(counts: results.counts)),
                    try jsonText(results.notes.map(\.kept)), attempt,
                ])
        }
    }

    /// The findings of a processed attempt, in the order in which they were stored; none before it is processed.
    package func findings(of id: AttemptID) async throws(StoreError) -> [StoredFinding] {
        try await read("read the findings of \(id)") { db in
            try Row.fetchAll(
                db,
                sql: """
                    SELECT findings.* FROM findings JOIN attempts ON attempts.id = findings.attempt
                    JOIN integrations ON integrations.id = integration JOIN bots ON bots.id = bot
                    WHERE bots.name = ? AND number = ? AND job = ? AND attempts.attempt = ?
                    AND attempts.state = 'processed' ORDER BY place
                    """,
                arguments: [id.integration.bot.description, id.integration.number, id.job.description, id.attempt]
            ).map { StoredFinding(fingerprint: $0["fingerprint"], finding: try Self.finding($0)) }
        }
    }

    /// The test results of each job's latest processed attempt, by configuration in the order the jobs were added.
    /// - Parameters:
    ///   - attempt: Of this processed attempt of each job instead; of a job that has none of that number, none.
    ///   - failingOnly: Only those that make an integration red.
    ///   - configuration: Only this one's.
    package func tests(
        of id: IntegrationID, attempt: Int? = nil, failingOnly: Bool = false, configuration: Name? = nil
    ) async throws(StoreError) -> [StoredTest] {
        try await read("read the tests of \(id)") { db in
            try Row.fetchAll(
                db,
                sql: """
                    SELECT tests.*, job FROM tests JOIN attempts ON attempts.id = tests.attempt
                    WHERE \(Self.isMeant) AND (?4 IS NULL OR job = ?4)
                    AND (NOT ?5 OR outcome IN ('failed', 'crashed')) ORDER BY attempts.id, place
                    """,
                arguments: [id.bot.description, id.number, attempt, configuration?.description, failingOnly]
            ).map { StoredTest(configuration: try $0.name("job"), result: try Self.test($0)) }
        }
    }

    /// The artifacts of each job's latest processed attempt.
    /// - Parameter attempt: Of this processed attempt of each job instead.
    package func artifacts(of id: IntegrationID, attempt: Int? = nil) async throws(StoreError) -> [StoredArtifact] {
        try await read("read the artifacts of \(id)") { db in
            try Row.fetchAll(
                db,
                sql: """
                    SELECT artifacts.*, job, attempts.attempt AS try FROM artifacts
                    JOIN attempts ON attempts.id = artifacts.attempt
                    WHERE \(Self.isMeant) ORDER BY attempts.id, place
                    """,
                arguments: [id.bot.description, id.number, attempt]
            ).map { row in
                StoredArtifact(
                    attempt: AttemptID(integration: id, job: try row.name("job"), attempt: row["try"]),
                    artifact: Artifact(
                        configuration: try row.optional("configuration") { Name($0) }, path: row["path"],
                        size: ByteCount(row["size"]), sha256: row["sha256"]))
            }
        }
    }

    /// Of the jobs of integration ?1#?2 the processed attempt ?3, or the latest processed one where that is NULL.
    private static let isMeant = """
        attempts.state = 'processed' AND attempts.integration =
            (SELECT integrations.id FROM integrations JOIN bots ON bots.id = bot WHERE bots.name = ?1 AND number = ?2)
        AND attempts.attempt = coalesce(?3, (SELECT max(attempt) FROM attempts AS other
            WHERE other.integration = attempts.integration AND other.job = attempts.job AND other.state = 'processed'))
        """
}
