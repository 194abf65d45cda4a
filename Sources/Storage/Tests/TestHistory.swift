import GRDB
package import Model

/// The history of one test in a bot's integrations.
package struct TestHistory: Hashable, Sendable {
    /// One result of the test.
    package struct Entry: Hashable, Sendable {
        package var integration: IntegrationID
        package var ref: RefName
        package var commit: CommitID
        /// When the integration ended.
        package var at: Timestamp
        package var configuration: Name
        package var attempt: Int
        package var outcome: TestResult.Outcome
        /// The duration, rounded to three digits; `nil` if the test did not pass.
        package var duration: Duration?
        /// The reason why the test did not pass.
        package var message: String?
    }

    package var suite: String
    package var name: String
    /// The newest integration first, and in each the configurations by name. For each configuration only the last attempt counts.
    package var entries: [Entry]
    /// The cursor of the older entries, for `before:`; `nil` if there are none.
    package var next: Int64?

    package var fullName: String { suite.isEmpty ? name : suite + "/" + name }

    /// The summary of one configuration's entries.
    package struct Configuration: Hashable, Sendable {
        package var name: Name
        /// The newest entry.
        package var latest: Entry
        /// The number of consecutive failures up to the newest entry, on that entry's branch.
        package var failing: Int
        package var durations: DurationFigures?
        package var outcomes: [TestResult.Outcome: Int]
    }

    /// The configurations that ran the test, by name.
    package var configurations: [Configuration] {
        Dictionary(grouping: entries, by: \.configuration).sorted { $0.key < $1.key }.compactMap { name, entries in
            guard let latest = entries.first else { return nil }
            return Configuration(
                name: name, latest: latest,
                failing: entries.filter { $0.ref == latest.ref }.prefix { $0.outcome.isFailure }.count,
                durations: DurationFigures(entries.filter { $0.outcome != .skipped }.compactMap(\.duration)),
                outcomes: Dictionary(entries.map { ($0.outcome, 1) }, uniquingKeysWith: +))
        }
    }
}

/// A stored failure of a test, which is kept even when a later attempt passed.
package struct TestFailure: Hashable, Sendable {
    package var integration: IntegrationID
    package var ref: RefName
    package var commit: CommitID
    package var at: Timestamp
    package var configuration: Name
    package var attempt: Int
    /// The result with its message and place.
    package var result: TestResult
}

/// An integration's tests as rows and configurations as columns.
package struct TestGrid: Hashable, Sendable {
    /// The columns.
    package var configurations: [Name]
    /// The rows by rank, then in the order in which the bot first ran the tests.
    package var rows: [TestSpread]
    /// The number of rows including tests that passed everywhere.
    package var total: Int
    /// The number of requested rows after these.
    package var more: Int
}

/// A test that passed and failed without a change that explains it.
package struct FlakyTest: Hashable, Sendable {
    package var suite: String
    package var name: String
    /// The number of integrations in which the test failed and passed on one commit.
    package var flaky: Int
    /// The number of changes between passing and failing from one integration of a branch to the next.
    package var changes: Int
    package var configurations: [Name]
    /// The newest integration in which either happened.
    package var latest: IntegrationID

    package var fullName: String { suite.isEmpty ? name : suite + "/" + name }
}

/// The flaky tests of a bot.
package struct FlakyTestList: Hashable, Sendable {
    /// The tests, the most often flaky first.
    package var tests: [FlakyTest]
    /// The number of checked integrations that ran tests.
    package var integrations: Int
}

/// A test of a bot with its outcomes in the newest integration that ran any test.
package struct NamedTest: Hashable, Sendable {
    package var id: Int64
    package var spread: TestSpread
}

/// A part of a bot's tests.
package struct NamedTestList: Hashable, Sendable {
    /// The integration of the outcomes; `nil` if no integration ran a test.
    package var integration: IntegrationID?
    package var configurations: [Name]
    package var tests: [NamedTest]
    /// The cursor that continues the list as `after:`; `nil` at its end.
    package var next: Int64?
}

extension Store {
    /// A condition for the ref in the second argument. If that is NULL, it selects all branches and tags, but no pull requests: unmerged code does
    /// not describe a bot's tests.
    static let isShownRef = "((?2 IS NULL AND pull_request IS NULL) OR ref = ?2)"

    /// Returns a test's outcomes in a bot's completed integrations.
    /// - Parameters:
    ///   - test: The suite and the name with a slash between, as in `TestResult.fullName`.
    ///   - ref: If not `nil`, only integrations of this ref are read.
    ///   - configuration: If not `nil`, only this configuration is read.
    ///   - limit: The number of integrations to read, at most `maximumPage`.
    ///   - before: Only integrations with a lower number are read: the `next` of an earlier result.
    /// - Returns: `nil` for a test that the bot never had.
    package func testHistory(
        of test: String, bot: Name, ref: RefName? = nil, configuration: Name? = nil, limit: Int = 50,
        before: Int64? = nil
    ) async throws(StoreError) -> TestHistory? {
        try await read("read the history of \(test) of \(bot)") { db in
            guard let found = try Self.test(test, of: bot, db) else { return nil }
            let count = min(max(1, limit), Self.maximumPage)
            let integrations: [(row: Int64, entry: TestHistory.Entry)] = try db.all(
                """
                SELECT id, number, ref, "commit", coalesce(ended_at, queued_at) AS at FROM integrations
                WHERE bot = ?1 AND \(Self.isShownRef) AND number < ?3 AND state = 'completed' AND removed_at IS NULL
                ORDER BY number DESC LIMIT ?4
                """, [found.bot, ref?.description, before ?? .max, count + 1]
            ) { row in
                (
                    try row["id"],
                    TestHistory.Entry(
                        integration: IntegrationID(bot: bot, number: try row["number"]), ref: try row.ref("ref"),
                        commit: try row.value("commit") { CommitID($0) }, at: try row.time("at"), configuration: bot,
                        attempt: 0, outcome: .passed)
                )
            }
            let reading = TestReading(db, try Zstd())
            var entries: [TestHistory.Entry] = []
            for (integration, base) in integrations.prefix(count) {
                for attempt in try Self.lastAttempts(of: integration, db)
                where configuration == nil || attempt.job == configuration {
                    guard let test = try reading.test(found.test, of: attempt.row) else { continue }
                    var entry = base
                    (entry.configuration, entry.attempt) = (attempt.job, attempt.attempt)
                    (entry.outcome, entry.duration) = test
                    if test.outcome != .passed {
                        entry.message =
                            try db.first(
                                "SELECT message FROM test_rows WHERE attempt = ? AND test = ?",
                                [attempt.row, found.test]
                            ) { try $0[0] as String? } ?? reading.message(found.test, of: attempt.row)
                    }
                    entries.append(entry)
                }
            }
            return TestHistory(
                suite: found.key.suite, name: found.key.name, entries: entries,
                next: integrations.count > count
                    ? integrations.prefix(count).last.map { Int64($0.entry.integration.number) } : nil)
        }
    }

    /// Returns a test's last failures, newest first, including flaky results and failures of attempts that were repeated.
    package func lastFailures(
        of test: String, bot: Name, ref: RefName? = nil, limit: Int = 10
    ) async throws(StoreError) -> [TestFailure] {
        try await read("read the last failures of \(test) of \(bot)") { db in
            guard let found = try Self.test(test, of: bot, db) else { return [] }
            return try db.all(
                """
                SELECT test_rows.*, job, attempts.attempt AS try, number, ref, "commit",
                    coalesce(attempts.ended_at, attempts.queued_at) AS at
                FROM test_rows JOIN attempts ON attempts.id = test_rows.attempt
                JOIN integrations ON integrations.id = integration
                WHERE test = ?1 AND outcome IN ('failed', 'crashed', 'flaky') AND attempts.state = 'processed'
                AND removed_at IS NULL AND \(Self.isShownRef) ORDER BY test_rows.attempt DESC LIMIT ?3
                """, [found.test, ref?.description, min(max(1, limit), Self.maximumPage)]
            ) { row in
                TestFailure(
                    integration: IntegrationID(bot: bot, number: try row["number"]), ref: try row.ref("ref"),
                    commit: try row.value("commit") { CommitID($0) }, at: try row.time("at"),
                    configuration: try row.name("job"), attempt: try row["try"],
                    result: try Self.result(row, suite: found.key.suite, name: found.key.name))
            }
        }
    }

    /// Returns the last processed attempt of each job of an integration, by job.
    static func lastAttempts(
        of integration: Int64, _ db: Database
    ) throws -> [(row: Int64, job: Name, attempt: Int)] {
        let all: [(row: Int64, job: Name, attempt: Int)] = try db.all(
            "SELECT id, job, attempt FROM attempts WHERE integration = ? AND state = 'processed' ORDER BY job, attempt",
            [integration]
        ) { (try $0["id"], try $0.name("job"), try $0["attempt"]) }
        return all.enumerated().filter { index, attempt in
            index + 1 == all.count || all[index + 1].job != attempt.job
        }.map(\.element)
    }

    /// Returns a test by its full name; `nil` if there is none. If several tests match, the one with the longest suite is returned.
    private static func test(
        _ fullName: String, of bot: Name, _ db: Database
    ) throws -> (bot: Int64, test: Int64, key: NamedTests.Key)? {
        try tests(fullName, of: bot, db).first
    }

    /// Returns all tests that have a full name: `a/b/c` is `b/c` of the suite `a`, or `c` of `a/b`. The longest suite comes first.
    static func tests(
        _ fullName: String, of bot: Name, _ db: Database
    ) throws -> [(bot: Int64, test: Int64, key: NamedTests.Key)] {
        let row: Int64? = try db.first("SELECT id FROM bots WHERE name = ?", [bot.description]) { try $0[0] }
        guard let row else { return [] }
        var keys = [NamedTests.Key(suite: "", name: fullName)]
        for index in fullName.indices where fullName[index] == "/" {
            keys.append(
                .init(suite: String(fullName[..<index]), name: String(fullName[fullName.index(after: index)...])))
            if keys.count > maximumSlashes { break }
        }
        return try keys.reversed().compactMap { key in try testID(key, bot: row, db).map { (row, $0, key) } }
    }

    /// The most slashes of a full name that are tried as the separator.
    private static let maximumSlashes = 64
}
