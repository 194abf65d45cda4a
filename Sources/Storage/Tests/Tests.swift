import GRDB
package import Model

/// A test's result with the configuration that ran it.
package struct StoredTest: Hashable, Sendable {
    package var configuration: Name
    package var result: TestResult

    package init(configuration: Name, result: TestResult) {
        self.configuration = configuration
        self.result = result
    }
}

extension Store {
    /// Returns the test results of each job's latest processed attempt. Configurations are in the order in which the jobs were added, and tests in
    /// the order in which the bot first ran them. Durations of passed tests have three digits.
    /// - Parameters:
    ///   - attempt: The number of the processed attempt to use instead. A job without that attempt has no results.
    ///   - failingOnly: Whether only failing tests are returned.
    ///   - configuration: If not `nil`, only this configuration is read.
    package func tests(
        of id: IntegrationID, attempt: Int? = nil, failingOnly: Bool = false, configuration: Name? = nil
    ) async throws(StoreError) -> [StoredTest] {
        try await testPage(
            of: id, attempt: attempt, configuration: configuration,
            outcomes: failingOnly ? Set(TestResult.Outcome.allCases.filter(\.isFailure)) : nil, limit: .max
        ).items
    }

    /// Returns part of an integration's tests, in the order of `tests(of:)`.
    /// - Parameters:
    ///   - outcomes: Only tests with these outcomes; `nil`: all.
    ///   - limit: The most tests.
    ///   - after: The number of tests before them: the `next` of an earlier part.
    package func testPage(
        of id: IntegrationID, attempt: Int? = nil, configuration: Name? = nil, outcomes: Set<TestResult.Outcome>? = nil,
        limit: Int, after: Int = 0
    ) async throws(StoreError) -> Page<StoredTest> {
        try await read("read the tests of \(id)") { db in
            let attempts: [(row: Int64, job: Name)] = try db.all(
                """
                SELECT attempts.id, job FROM attempts WHERE \(Self.isMeant) AND (?4 IS NULL OR job = ?4)
                ORDER BY attempts.id
                """,
                [id.bot.description, id.number, attempt, configuration?.description]
            ) { (try $0["id"], try $0.name("job")) }
            let reading = TestReading(db, try Zstd())
            var (items, skipped, hasMore): ([StoredTest], Int, Bool) = ([], 0, false)
            for attempt in attempts where !hasMore {
                let results = try Self.results(
                    of: attempt.row, outcomes: outcomes, reading, skipping: after - skipped, limit: limit - items.count,
                    db)
                skipped += results.skipped
                items += results.tests.map { StoredTest(configuration: attempt.job, result: $0) }
                hasMore = results.hasMore
            }
            return Page(items: items, next: hasMore ? Int64(after + items.count) : nil)
        }
    }

    /// Returns some of an attempt's tests.
    /// - Parameters:
    ///   - skipping: The number of tests to skip. The result contains the number skipped, which is lower if there are fewer tests.
    private static func results(
        of attempt: Int64, outcomes: Set<TestResult.Outcome>?, _ reading: TestReading, skipping: Int, limit: Int,
        _ db: Database
    ) throws -> (tests: [TestResult], skipped: Int, hasMore: Bool) {
        // Failing tests have rows and do not need the record.
        let isAllRows = outcomes?.allSatisfy { $0.isFailure || $0 == .flaky } ?? false
        let own = try db.all("SELECT test, outcome FROM test_rows WHERE attempt = ?", [attempt]) { row in
            (test: try row["test"] as Int64, outcome: try row.value("outcome") { TestResult.Outcome(rawValue: $0) })
        }
        var columns = TestColumns()
        var places: [Int]
        if isAllRows, let outcomes {
            columns.ids = own.filter { outcomes.contains($0.outcome) }.map(\.test).sorted()
            places = Array(columns.ids.indices)
        } else {
            guard let found = try reading.columns(of: attempt, durations: true, details: true) else {
                return ([], 0, false)
            }
            columns = found
            places = Array(columns.ids.indices)
            if let outcomes { places = places.filter { outcomes.contains(columns.outcomes[$0]) } }
        }
        let skipped = min(max(0, skipping), places.count)
        let rest = places.dropFirst(skipped)
        let shown = Array(rest.prefix(limit))
        let names = try testNames(shown.map { columns.ids[$0] }, db)
        let rows = try rows(
            of: attempt, Set(own.map(\.test)).intersection(shown.map { columns.ids[$0] }), of: own.count, db)
        let tests = try shown.map { place in
            let id = columns.ids[place]
            guard let name = names[id] else {
                throw Refusal(
                    code: .corrupt, message: "the test \(id) has no name; stop the daemon and restore a backup")
            }
            if var result = rows[id] {
                (result.suite, result.name) = (name.suite, name.name)
                return result
            }
            let detail = columns.details[place]
            return TestResult(
                suite: name.suite, name: name.name, outcome: columns.outcomes[place],
                duration: columns.durations[place].duration, message: detail?.message, path: detail?.path,
                line: detail?.line)
        }
        return (tests, skipped, shown.count < rest.count)
    }

    /// Returns the rows of some tests. Messages can be long, so only the rows of the given tests are read.
    /// - Parameter count: The number of rows of the attempt.
    private static func rows(
        of attempt: Int64, _ tests: Set<Int64>, of count: Int, _ db: Database
    ) throws -> [Int64: TestResult] {
        var rows: [Int64: TestResult] = [:]
        if tests.count * 4 > count {
            let all = try db.all("SELECT * FROM test_rows WHERE attempt = ?", [attempt]) { row in
                (try row["test"] as Int64, try result(row, suite: "", name: ""))
            }
            for (test, result) in all where tests.contains(test) { rows[test] = result }
        } else {
            for test in tests {
                rows[test] = try db.first("SELECT * FROM test_rows WHERE attempt = ? AND test = ?", [attempt, test]) {
                    try result($0, suite: "", name: "")
                }
            }
        }
        return rows
    }

    /// Returns the result in a row of `test_rows`.
    static func result(_ row: StoredRow, suite: String, name: String) throws -> TestResult {
        TestResult(
            suite: suite, name: name, outcome: try row.value("outcome") { TestResult.Outcome(rawValue: $0) },
            duration: (try row["duration"] as Int64?).map { .microseconds($0) }, message: try row["message"],
            path: try row["path"], line: try row["line"])
    }

    /// Returns the names of tests by id.
    /// - Parameter ids: The ids, in ascending order.
    static func testNames(_ ids: [Int64], _ db: Database) throws -> [Int64: NamedTests.Key] {
        guard let first = ids.first, let last = ids.last else { return [:] }
        var names: [Int64: NamedTests.Key] = [:]
        names.reserveCapacity(ids.count)
        // A bot's ids are mostly consecutive: one range scan costs a tenth of that many searches.
        let (distance, isFar) = last.subtractingReportingOverflow(first)
        if !isFar, distance < Int64(ids.count) * 2 {
            let all: [(Int64, NamedTests.Key)] = try db.all(
                "SELECT id, suite, name FROM test_names WHERE id BETWEEN ? AND ?", [first, last]
            ) { (try $0[0], NamedTests.Key(suite: try $0[1], name: try $0[2])) }
            for (id, key) in all { names[id] = key }
            return names
        }
        for id in ids {
            names[id] = try db.first("SELECT suite, name FROM test_names WHERE id = ?", [id]) {
                NamedTests.Key(suite: try $0[0], name: try $0[1])
            }
        }
        return names
    }
}
