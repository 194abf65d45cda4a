import GRDB
package import Model

extension Store {
    /// The number of changes between passing and failing from which a test is listed with the flaky ones.
    static let suspiciousChanges = 4

    /// A condition for rows of `test_rows`. The index `test_rows_changed` contains exactly these rows.
    static let hasChangedOrIsFlaky = """
        (outcome = 'flaky' OR before = 'passed' AND outcome IN ('failed', 'crashed')
            OR before IN ('failed', 'crashed') AND outcome = 'passed')
        """

    /// Returns the tests of a bot that were flaky in its newest completed integrations, and those that changed often between passing and failing.
    /// - Parameters:
    ///   - ref: If not `nil`, only integrations of this ref are read.
    ///   - integrations: The number of integrations to read, at most `maximumPage`.
    package func flakyTests(
        of bot: Name, ref: RefName? = nil, integrations: Int = 100
    ) async throws(StoreError) -> FlakyTestList {
        try await read("read the flaky tests of \(bot)") { db in
            let window: [(row: Int64, number: Int)] = try db.all(
                """
                SELECT id, number FROM integrations WHERE bot = (SELECT id FROM bots WHERE name = ?1)
                AND \(Self.isShownRef) AND state = 'completed' AND removed_at IS NULL ORDER BY number DESC LIMIT ?3
                """, [bot.description, ref?.description, min(max(1, integrations), Self.maximumPage)]
            ) { (try $0["id"], try $0["number"]) }
            var found: [Int64: Count] = [:]
            var ran = 0
            for integration in window {
                let hasRun = try db.first(
                    """
                    SELECT EXISTS (SELECT 1 FROM attempts JOIN test_records ON test_records.attempt = attempts.id
                        WHERE integration = ?)
                    """, [integration.row]
                ) { try $0[0] as Bool }
                if hasRun == true { ran += 1 }
                let rows: [(test: Int64, job: Name, outcome: TestResult.Outcome)] = try db.all(
                    """
                    SELECT test, job, outcome FROM attempts
                    CROSS JOIN test_rows INDEXED BY test_rows_changed ON test_rows.attempt = attempts.id
                    WHERE integration = ?1 AND state = 'processed' AND \(Self.hasChangedOrIsFlaky)
                    AND (outcome = 'flaky' OR attempts.id = (SELECT max(last.id) FROM attempts AS last
                        WHERE last.integration = ?1 AND last.job = attempts.job AND last.state = 'processed'))
                    """, [integration.row]
                ) { row in
                    (
                        try row["test"], try row.name("job"),
                        try row.value("outcome") { TestResult.Outcome(rawValue: $0) }
                    )
                }
                for row in rows {
                    found[row.test, default: Count(latest: integration.number)]
                        .add(row.outcome, of: row.job, in: integration.number)
                }
            }
            let told = found.filter { !$0.value.flakyIn.isEmpty || $0.value.mostChanges >= Self.suspiciousChanges }
            let names = try Self.testNames(told.keys.sorted(), db)
            let tests = told.compactMap { id, count in
                names[id].map { key in
                    FlakyTest(
                        suite: key.suite, name: key.name, flaky: count.flakyIn.count, changes: count.mostChanges,
                        configurations: count.changes.keys.sorted(),
                        latest: IntegrationID(bot: bot, number: count.latest))
                }
            }
            return FlakyTestList(
                tests: tests.sorted { ($1.flaky, $1.changes, $0.fullName) < ($0.flaky, $0.changes, $1.fullName) },
                integrations: ran)
        }
    }

    /// The flakiness and the changes of one test.
    private struct Count {
        /// The newest integration, since rows are added newest first.
        let latest: Int
        var flakyIn: Set<Int> = []
        var changes: [Name: Int] = [:]

        init(latest: Int) { self.latest = latest }

        /// The most changes in one configuration. A change that shows in five configurations counts as one.
        var mostChanges: Int { changes.values.max() ?? 0 }

        mutating func add(_ outcome: TestResult.Outcome, of job: Name, in number: Int) {
            if outcome == .flaky { flakyIn.insert(number) }
            changes[job, default: 0] += outcome == .flaky ? 0 : 1
        }
    }
}
