import GRDB
package import Model

extension Store {
    /// Returns an integration's tests, with a row for each test and a column for each configuration, failures first.
    /// - Parameters:
    ///   - attempt: The number of each job's processed attempt to use; `nil`: the latest.
    ///   - all: Whether to include tests that passed everywhere.
    ///   - limit: The most rows.
    ///   - after: The number of rows to skip.
    package func testGrid(
        of id: IntegrationID, attempt: Int? = nil, all: Bool = false, limit: Int = 1000, after: Int = 0
    ) async throws(StoreError) -> TestGrid {
        try await read("read the grid of tests of \(id)") { db in
            let attempts: [(row: Int64, job: Name)] = try db.all(
                "SELECT attempts.id, job FROM attempts WHERE \(Self.isMeant) ORDER BY attempts.id",
                [id.bot.description, id.number, attempt]
            ) { (try $0["id"], try $0.name("job")) }
            return try Self.grid(attempts, TestReading(db, try Zstd()), all: all, limit: limit, after: after, db)
        }
    }

    private static func grid(
        _ attempts: [(row: Int64, job: Name)], _ reading: TestReading, all: Bool, limit: Int, after: Int, _ db: Database
    ) throws -> TestGrid {
        var (jobs, columns): ([Name], [TestColumns]) = ([], [])
        for attempt in attempts {
            // A configuration without tests, such as one that only analyzes, has no column.
            guard let found = try reading.columns(of: attempt.row, durations: false, details: false) else { continue }
            jobs.append(attempt.job)
            columns.append(found)
        }
        // Outcomes are built only for the rows shown. Building them for all 20,000 rows took four times as long.
        var rows: [(rank: Int, id: Int64)] = []
        var (next, total) = (Array(repeating: 0, count: columns.count), 0)
        var outcomes: [TestResult.Outcome?] = Array(repeating: nil, count: columns.count)
        while true {
            var id = Int64.max
            for (index, column) in columns.enumerated() where next[index] < column.ids.count {
                id = min(id, column.ids[next[index]])
            }
            if id == .max { break }
            total += 1
            for (index, column) in columns.enumerated() {
                if next[index] < column.ids.count, column.ids[next[index]] == id {
                    outcomes[index] = column.outcomes[next[index]]
                    next[index] += 1
                } else {
                    outcomes[index] = nil
                }
            }
            let hasPassed = outcomes.allSatisfy { $0 == .passed }
            if all || !hasPassed {
                rows.append((hasPassed ? TestSpread.lowestRank : TestSpread.rank(of: outcomes), id))
            }
        }
        rows.sort { $0 < $1 }
        let shown = rows.dropFirst(max(0, after)).prefix(max(0, limit)).map(\.id)
        let names = try testNames(shown.sorted(), db)
        let named = shown.map { id in
            TestSpread(
                suite: names[id]?.suite ?? "", name: names[id]?.name ?? "",
                outcomes: columns.map { column in column.place(of: id).map { column.outcomes[$0] } })
        }
        return TestGrid(
            configurations: jobs, rows: named, total: total, more: max(0, rows.count - max(0, after) - named.count))
    }

    /// How many of a bot's newest completed integrations are searched for one that ran tests. A bot that never tests may have very many.
    static let searchedForTests = 1000

    /// Returns a bot's tests and their outcomes in its newest completed integration that ran any, of the newest `searchedForTests`.
    /// - Parameters:
    ///   - ref: If not `nil`, the outcomes are those of this ref.
    ///   - text: A part of the full name; `nil`: any name. ASCII letters match in either case.
    ///   - limit: The most tests.
    ///   - after: The `next` of an earlier result.
    package func namedTests(
        of bot: Name, ref: RefName? = nil, containing text: String? = nil, limit: Int = 100, after: Int64 = 0
    ) async throws(StoreError) -> NamedTestList {
        try await read("read the tests of \(bot)") { db in
            let pattern = text.map { "%\(Self.escapedForLike($0))%" }
            let found: [(id: Int64, key: NamedTests.Key)] = try db.all(
                """
                SELECT test_names.id, suite, test_names.name FROM test_names
                WHERE test_names.bot = (SELECT id FROM bots WHERE name = ?1) AND test_names.id > ?2
                AND (?3 IS NULL OR suite || '/' || test_names.name LIKE ?3 ESCAPE '\\') ORDER BY test_names.id LIMIT ?4
                """, [bot.description, after, pattern, limit + 1]
            ) { (try $0["id"], NamedTests.Key(suite: try $0["suite"], name: try $0["name"])) }
            let newest: (row: Int64, number: Int)? = try db.first(
                """
                SELECT id, number FROM (
                    SELECT id, number FROM integrations WHERE bot = (SELECT id FROM bots WHERE name = ?1)
                    AND state = 'completed' AND \(Self.isShownRef) AND removed_at IS NULL
                    ORDER BY number DESC LIMIT \(Self.searchedForTests)) AS newest
                WHERE EXISTS (SELECT 1 FROM attempts
                    JOIN test_records ON test_records.attempt = attempts.id WHERE integration = newest.id)
                ORDER BY number DESC LIMIT 1
                """, [bot.description, ref?.description]
            ) { (try $0["id"], try $0["number"]) }
            let reading = TestReading(db, try Zstd())
            var (jobs, columns): ([Name], [TestColumns]) = ([], [])
            for attempt in try newest.map({ try Self.lastAttempts(of: $0.row, db) }) ?? [] {
                guard let found = try reading.columns(of: attempt.row, durations: false, details: false) else {
                    continue
                }
                jobs.append(attempt.job)
                columns.append(found)
            }
            let tests = found.prefix(limit).map { id, key in
                NamedTest(
                    id: id,
                    spread: TestSpread(
                        suite: key.suite, name: key.name,
                        outcomes: columns.map { column in column.place(of: id).map { column.outcomes[$0] } }))
            }
            return NamedTestList(
                integration: newest.map { IntegrationID(bot: bot, number: $0.number) }, configurations: jobs,
                tests: tests, next: found.count > limit ? tests.last?.id : nil)
        }
    }
}
