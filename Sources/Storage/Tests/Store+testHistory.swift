import GRDB
package import Model

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
