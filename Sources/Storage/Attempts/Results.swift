import GRDB
package import Model

/// All results of processing an attempt. They become visible together with the attempt's `processed` row.
package struct AttemptResults: Hashable, Sendable {
    /// At most `maximumRows`.
    package var findings: [StoredFinding]
    /// At most `maximumRows`.
    package var tests: [TestResult]
    /// At most `maximumRows`.
    package var artifacts: [Artifact]
    /// The lines of the log that findings and failing tests are about: at most `LogPlace.maximumCount` are stored.
    package var logPlaces: [LogPlace] = []
    /// The coverage of the tests; `nil` if no report contains it.
    package var coverage: Coverage?
    package var counts: Counts
    /// `not analyzed`, `clean` or `3 findings`. It is never empty, so that a missing analysis never looks like success.
    package var analysis: String
    /// A text that states what was tested: `412 tests`, `skipped: no tests`.
    package var tested: String
    package var notes: [String]
    package var verdict: Verdict
    package var reason: String?

    /// The most findings, tests and artifacts, each. It is more than a hundred times the tests of the largest package in the corpus.
    package static let maximumRows = 200_000

    package init(
        findings: [StoredFinding] = [], tests: [TestResult] = [], artifacts: [Artifact] = [],
        coverage: Coverage? = nil, counts: Counts = Counts(), analysis: String, tested: String, notes: [String] = [],
        verdict: Verdict,
        reason: String? = nil
    ) {
        self.findings = findings
        self.tests = tests
        self.artifacts = artifacts
        self.coverage = coverage
        self.counts = counts
        self.analysis = analysis
        self.tested = tested
        self.notes = notes
        self.verdict = verdict
        self.reason = reason
    }
}

/// A finding of one attempt with its fingerprint.
package struct StoredFinding: Hashable, Sendable {
    package var fingerprint: String
    /// See `Issue.content`.
    package var content: String
    package var finding: Finding
    /// The kind of step that found it. The finding is not resolved by a run in which that step did not look. `nil` if an older version stored it, and
    /// for findings of no step.
    package var step: JobStep?

    package init(fingerprint: String, content: String, finding: Finding, step: JobStep? = nil) {
        self.fingerprint = fingerprint
        self.content = content
        self.finding = finding
        self.step = step
    }
}

/// An artifact with the attempt that archived it.
package struct StoredArtifact: Hashable, Sendable {
    package var attempt: AttemptID
    package var artifact: Artifact

    package init(attempt: AttemptID, artifact: Artifact) {
        self.attempt = attempt
        self.artifact = artifact
    }
}

extension Store {
    /// Stores the results of processing an attempt: rows in batches, then the attempt's `processed` row, which makes all of them visible. After a
    /// crash it can be called again, and replaces the rows of the interrupted call.
    /// - Parameter steps: Steps to store before the attempt is processed; see `record(steps:of:)`.
    /// - Throws: `illegalTransition` if the attempt was processed before; `tooLarge` above `AttemptResults.maximumRows`; `notFound`.
    package func storeResults(
        _ results: AttemptResults, of id: AttemptID, steps: [StepChange] = [], at time: Timestamp
    ) async throws(StoreError) {
        let operation = "store the results of \(id)"
        let largest = max(results.findings.count, results.tests.count, results.artifacts.count)
        guard largest <= AttemptResults.maximumRows else {
            throw StoreError(
                code: .tooLarge, operation: operation,
                message: "\(largest) findings, tests or artifacts are more than \(AttemptResults.maximumRows)")
        }
        let isSmall = results.findings.count + results.tests.count + results.artifacts.count <= Self.batchSize
        // A reader's queue compresses the coverage, so that neither the writer nor the cooperative pool is blocked.
        let coverage =
            results.coverage == nil ? nil : try await read(operation) { _ in try EncodedCoverage(results.coverage) }
        let unfinished: Int64? = try await writer.write(operation) { transaction in
            let db = transaction.db
            try Self.record(steps, of: id, transaction)
            var (attempt, record) = try Self.attempt(id, db)
            try record.state.apply(.processed(results.verdict))
            // Most attempts have few results. One transaction stores all of them, so that no second one must make them visible.
            guard isSmall, try !Self.hasResults(attempt, db) else { return attempt }
            for (place, stored) in results.findings.enumerated() {
                try Self.insert(stored, attempt: attempt, place: place, db)
            }
            try Self.storeTests(results.tests, of: try Self.testedAttempt(id, row: attempt, db), db)
            for (place, artifact) in results.artifacts.enumerated() {
                try Self.insert(artifact, attempt: attempt, place: place, db)
            }
            if let coverage { try Self.insert(coverage, attempt: attempt, db) }
            try Self.show(results, of: id, attempt: attempt, at: time, transaction)
            return nil
        }
        guard let attempt = unfinished else { return }
        for table: RowDeletion.ResultTable in [.findings, .artifacts, .testRows] {
            try await deleteBatches(operation, .results(table, attempt: attempt))
        }
        try await insertBatches(operation, results.findings) { db, place, stored in
            try Self.insert(stored, attempt: attempt, place: place, db)
        }
        try await insertBatches(operation, results.artifacts) { db, place, artifact in
            try Self.insert(artifact, attempt: attempt, place: place, db)
        }
        let tested = try await read(operation) { try Self.testedAttempt(id, row: attempt, $0) }
        let insertRecord = try await storeTests(operation, results.tests, of: tested)
        try await writer.write(operation) { transaction in
            try insertRecord?(transaction.db)
            if let coverage { try Self.insert(coverage, attempt: attempt, transaction.db) }
            try Self.show(results, of: id, attempt: attempt, at: time, transaction)
        }
    }

    /// Returns whether an interrupted call has left rows of an attempt.
    private static func hasResults(_ attempt: Int64, _ db: Database) throws -> Bool {
        try db.first(
            """
            SELECT EXISTS (SELECT 1 FROM findings WHERE attempt = ?1) OR EXISTS (SELECT 1 FROM test_rows WHERE attempt = ?1)
                OR EXISTS (SELECT 1 FROM artifacts WHERE attempt = ?1)
            """, [attempt]
        ) { try $0[0] } ?? false
    }

    /// Writes the attempt's `processed` row, which makes its results visible.
    private static func show(
        _ results: AttemptResults, of id: AttemptID, attempt: Int64, at time: Timestamp, _ transaction: StoreTransaction
    ) throws {
        _ = try apply(.processed(results.verdict), to: id, at: time, reason: results.reason, transaction)
        try insert(results.logPlaces, attempt: attempt, transaction.db)
        try transaction.db.change(
            "UPDATE attempts SET analysis = ?, tested = ?, summary = ?, notes = ? WHERE id = ?",
            [
                results.analysis.kept, results.tested.kept, try jsonText(Summary(counts: results.counts)),
                try jsonText(results.notes.map(\.kept)), attempt,
            ])
    }

    /// The number of earlier integrations that are searched for a configuration's last tests.
    static let maximumLookBack = 20

    /// Returns the number of tests, without skipped ones, that a configuration ran when it last ran any. The comparable integrations are those of
    /// `previous(of:)`. `nil` if it ran none in the last 20 of them.
    package func earlierTests(
        before id: IntegrationID, configuration: Name
    ) async throws(StoreError) -> Int? {
        try await read("read the earlier tests of \(id)/\(configuration)") { db in
            try db.first(
                """
                SELECT json_extract(attempts.summary, '$.counts.tests') AS tests FROM attempts JOIN (
                    SELECT integrations.id FROM integrations JOIN bots ON bots.id = bot
                    WHERE name = ?1 AND number < ?2 AND state = 'completed' AND removed_at IS NULL
                    AND verdict NOT IN ('canceled', 'checkout-error', 'internal-error')
                    AND ref = (SELECT coalesce(base, ref) FROM integrations JOIN bots ON bots.id = bot WHERE name = ?1 AND number = ?2)
                    ORDER BY number DESC LIMIT \(Self.maximumLookBack)
                ) AS earlier ON earlier.id = integration
                WHERE job = ?3 AND state = 'processed' AND tests > 0 ORDER BY integration DESC, attempt DESC LIMIT 1
                """,
                [id.bot.description, id.number, configuration.description]
            ) { try $0[0] }
        }
    }

    /// Returns the findings of a processed attempt, in the order in which they were stored; empty before it is processed.
    package func findings(of id: AttemptID) async throws(StoreError) -> [StoredFinding] {
        try await read("read the findings of \(id)") { db in
            let texts = SharedTexts()
            return try db.all(
                """
                SELECT findings.* FROM findings JOIN attempts ON attempts.id = findings.attempt
                JOIN integrations ON integrations.id = integration JOIN bots ON bots.id = bot
                WHERE bots.name = ? AND number = ? AND job = ? AND attempts.attempt = ?
                AND attempts.state = 'processed' ORDER BY place
                """,
                [id.integration.bot.description, id.integration.number, id.job.description, id.attempt]
            ) { row in
                var finding = try Self.finding(row)
                texts.share(&finding)
                return StoredFinding(
                    fingerprint: try row["fingerprint"], content: try row["content"], finding: finding,
                    step: try row.optional("step") { JobStep(rawValue: $0) })
            }
        }
    }

    /// Returns the artifacts of each job's latest processed attempt.
    /// - Parameter attempt: The number of the processed attempt of each job to use instead.
    package func artifacts(of id: IntegrationID, attempt: Int? = nil) async throws(StoreError) -> [StoredArtifact] {
        try await read("read the artifacts of \(id)") { db in
            try db.all(
                """
                SELECT artifacts.*, job, attempts.attempt AS try FROM artifacts
                JOIN attempts ON attempts.id = artifacts.attempt
                WHERE \(Self.isMeant) ORDER BY attempts.id, place
                """,
                [id.bot.description, id.number, attempt]
            ) { row in
                StoredArtifact(
                    attempt: AttemptID(integration: id, job: try row.name("job"), attempt: try row["try"]),
                    artifact: Artifact(
                        configuration: try row.optional("configuration") { Name($0) }, path: try row["path"],
                        size: try row.size("size"), sha256: try row["sha256"]))
            }
        }
    }

    /// Selects processed attempts of integration ?1#?2: of each job attempt ?3, or the latest processed one if ?3 is NULL.
    static let isMeant = """
        attempts.state = 'processed' AND attempts.integration =
            (SELECT integrations.id FROM integrations JOIN bots ON bots.id = bot WHERE bots.name = ?1 AND number = ?2)
        AND attempts.attempt = coalesce(?3, (SELECT max(attempt) FROM attempts AS other
            WHERE other.integration = attempts.integration AND other.job = attempts.job AND other.state = 'processed'))
        """
}
