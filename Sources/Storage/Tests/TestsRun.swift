import GRDB
package import Model

/// The requested tests that an attempt ran.
package struct TestsRun: Hashable, Sendable {
    /// The full names of the requested tests that it ran, including skipped ones.
    package var named: Set<String>
    /// Whether it ran any test at all.
    package var isAny: Bool
    /// Whether a test crashed, so that the tests after it did not run.
    package var hasCrashed: Bool

    package init(named: Set<String> = [], isAny: Bool = false, hasCrashed: Bool = false) {
        self.named = named
        self.isAny = isAny
        self.hasCrashed = hasCrashed
    }
}

extension Store {
    /// Returns whether the named tests ran, for the comparison with the previous integration. If no test is named, no record is read. Otherwise only
    /// the records' heads are read, without durations, messages and other names.
    /// - Parameter names: Full names (`TestResult.fullName`).
    /// - Returns: The tests run by each job's latest processed attempt, keyed by job.
    package func testsRun(
        of id: IntegrationID, named names: Set<String>
    ) async throws(StoreError) -> [Name: TestsRun] {
        try await read("read which tests of \(id) ran") { db in
            let attempts: [(row: Int64, job: Name, run: TestsRun)] = try db.all(
                """
                SELECT attempts.id, job, attempts.id IN (SELECT attempt FROM test_records) AS ran,
                    EXISTS (SELECT 1 FROM test_rows WHERE attempt = attempts.id AND outcome = 'crashed') AS crashed
                FROM attempts WHERE \(Self.isMeant)
                """,
                [id.bot.description, id.number, nil as Int?]
            ) { (try $0["id"], try $0.name("job"), TestsRun(isAny: try $0["ran"], hasCrashed: try $0["crashed"])) }
            let ids = try names.map { (name: $0, ids: try Self.tests($0, of: id.bot, db).map(\.test)) }
                .filter { !$0.ids.isEmpty }
            let reading = TestReading(db, try Zstd())
            var found: [Name: TestsRun] = [:]
            for attempt in attempts {
                var run = attempt.run
                if run.isAny, !ids.isEmpty, let record = try reading.record(of: attempt.row) {
                    run.named = Set(ids.filter { $0.ids.contains(where: record.holds) }.map(\.name))
                }
                found[attempt.job] = run
            }
            return found
        }
    }

    /// Returns the suites and names of tests by their full names. A test that the bot never had is missing.
    package func testKeys(
        of names: [String], bot: Name
    ) async throws(StoreError) -> [String: (suite: String, name: String)] {
        try await read("read the names of tests of \(bot)") { db in
            var keys: [String: (suite: String, name: String)] = [:]
            for name in names {
                keys[name] = try Self.tests(name, of: bot, db).first.map { ($0.key.suite, $0.key.name) }
            }
            return keys
        }
    }
}
