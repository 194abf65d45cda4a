import GRDB
package import Model

extension Store {
    /// Returns part of an integration's tests as a tree.
    /// - Parameters:
    ///   - attempt: The number of each job's processed attempt to use; `nil`: the latest.
    ///   - filter: Which tests are selected, and their order.
    ///   - limit: The most tests.
    ///   - after: The number of selected tests to skip.
    package func testTree(
        of id: IntegrationID, attempt: Int? = nil, filter: TestTree.Filter = .init(), limit: Int = 1000, after: Int = 0
    ) async throws(StoreError) -> TestTree {
        try await read("read the tree of tests of \(id)") { db in
            var builder = try TreeBuilder(try Self.testedColumns(of: id, attempt: attempt, db))
            try builder.select(filter, try Self.suites(of: id.bot, containing: filter.text, db))
            let shown = builder.rows.dropFirst(max(0, after)).prefix(max(0, limit))
            let names = try Self.testNames(shown.map(\.id).sorted(), db)
            return builder.tree(shown, names: names, after: after)
        }
    }

    /// Returns the count of an integration's tests, each counted once; `nil` if no configuration reported a test.
    package func testTally(of id: IntegrationID) async throws(StoreError) -> TestTally? {
        try await read("count the tests of \(id)") { db in
            let tally = try TreeBuilder(try Self.testedColumns(of: id, attempt: nil, db)).tally
            return tally.tests == 0 ? nil : tally
        }
    }

    /// Returns the tests of each configuration that ran any, in the order in which the jobs were added.
    private static func testedColumns(
        of id: IntegrationID, attempt: Int?, _ db: Database
    ) throws -> [(job: Name, columns: TestColumns)] {
        let reading = TestReading(db, try Zstd())
        return try db.all(
            "SELECT attempts.id, job FROM attempts WHERE \(Self.isMeant) ORDER BY attempts.id",
            [id.bot.description, id.number, attempt]
        ) { (row: try $0["id"] as Int64, job: try $0.name("job")) }.compactMap { attempt in
            try reading.columns(of: attempt.row, durations: true, details: false).map { (attempt.job, $0) }
        }
    }

    /// Returns the bot's tests by id with the number of their suite. The unique index contains all that is read, in the order of suites.
    private static func suites(of bot: Name, containing text: String?, _ db: Database) throws -> TreeBuilder.Suites {
        var (suites, last): (TreeBuilder.Suites, String?) = (.init(), nil)
        let pattern = text.map {
            "%" + $0.replacing("\\", with: "\\\\").replacing("%", with: "\\%").replacing("_", with: "\\_") + "%"
        }
        let found: [(id: Int64, suite: String)] = try db.all(
            """
            SELECT id, suite FROM test_names WHERE bot = (SELECT id FROM bots WHERE name = ?1)
            AND (?2 IS NULL OR suite || '/' || name LIKE ?2 ESCAPE '\\') ORDER BY suite
            """, [bot.description, pattern]
        ) { (try $0[0], try $0[1]) }
        suites.numbers.reserveCapacity(found.count)
        for (id, suite) in found {
            if suite != last {
                suites.names.append(suite)
                last = suite
            }
            suites.numbers[id] = suites.names.count - 1
        }
        return suites
    }
}

/// Makes a tree of the columns of several configurations. Outcomes are collected only for the tests that are shown.
private struct TreeBuilder {
    struct Suites {
        var names: [String] = []
        /// The index in `names` by the test's id.
        var numbers: [Int64: Int] = [:]
    }

    struct TestLine {
        let id: Int64
        var suite = 0
        let rank: Int
        let duration: DurationCode
    }

    private struct Group {
        var counts: [TestTree.Count]
        var total = 0
        var failing = 0
        var rank = TestSpread.lowestRank
        var first = Int64.max
    }

    private let configurations: [Name]
    private let columns: [TestColumns]
    private(set) var rows: [TestLine] = []
    private(set) var tally = TestTally()
    private var suites = Suites()
    private var groups: [Group] = []
    private var isFlat = false

    init(_ tested: [(job: Name, columns: TestColumns)]) throws {
        configurations = tested.map(\.job)
        columns = tested.map(\.columns)
        tally.configurations = columns.count
        rows.reserveCapacity(columns.map(\.ids.count).max() ?? 0)
        var next = Array(repeating: 0, count: columns.count)
        var outcomes: [TestResult.Outcome?] = Array(repeating: nil, count: columns.count)
        while true {
            var id = Int64.max
            for (index, column) in columns.enumerated() where next[index] < column.ids.count {
                id = min(id, column.ids[next[index]])
            }
            if id == .max { break }
            var longest = DurationCode(nil)
            for (index, column) in columns.enumerated() {
                let place = next[index]
                guard place < column.ids.count, column.ids[place] == id else {
                    outcomes[index] = nil
                    continue
                }
                outcomes[index] = column.outcomes[place]
                if column.durations[place].code > longest.code { longest = column.durations[place] }
                next[index] += 1
            }
            tally.add(outcomes)
            rows.append(TestLine(id: id, rank: TestSpread.rank(of: outcomes), duration: longest))
        }
    }

    /// Keeps the selected tests, in the order of the filter.
    mutating func select(_ filter: TestTree.Filter, _ suites: Suites) throws {
        self.suites = suites
        isFlat = filter.isSlowest
        let empty = Group(counts: Array(repeating: .init(), count: columns.count))
        groups = Array(repeating: empty, count: suites.names.count)
        rows = rows.compactMap { row in
            guard let suite = suites.numbers[row.id] else { return nil }
            var row = row
            row.suite = suite
            groups[suite].total += 1
            if row.rank == 0 { groups[suite].failing += 1 }
            groups[suite].rank = min(groups[suite].rank, min(row.rank, 2))
            groups[suite].first = min(groups[suite].first, row.id)
            return row
        }
        for (index, column) in columns.enumerated() {
            for (id, outcome) in zip(column.ids, column.outcomes) {
                if let suite = suites.numbers[id] { groups[suite].counts[index].add(outcome) }
            }
        }
        if filter.isFailing { rows = rows.filter { $0.rank == 0 } }
        if filter.isSlowest {
            rows.sort { ($1.duration.code, $0.id) < ($0.duration.code, $1.id) }
        } else {
            let groups = groups
            rows.sort { left, right in
                let (one, other) = (groups[left.suite], groups[right.suite])
                return (one.rank, one.first, left.rank, left.id) < (other.rank, other.first, right.rank, right.id)
            }
        }
    }

    func tree(_ shown: ArraySlice<TestLine>, names: [Int64: NamedTests.Key], after: Int) -> TestTree {
        var parts: [(number: Int, tests: [TestTree.Test])] = []
        for row in shown {
            let test = TestTree.Test(
                suite: names[row.id]?.suite ?? "", name: names[row.id]?.name ?? "",
                outcomes: columns.map { column in column.place(of: row.id).map { column.outcomes[$0] } },
                duration: row.duration.duration)
            let number = isFlat ? 0 : row.suite
            if parts.last?.number == number {
                parts[parts.count - 1].tests.append(test)
            } else {
                parts.append((number, [test]))
            }
        }
        let suites = parts.map { number, tests -> TestTree.Suite in
            if isFlat { return .init(name: "", total: rows.count, failing: tally.failing, counts: [], tests: tests) }
            let group = groups[number]
            return .init(
                name: self.suites.names[number], total: group.total, failing: group.failing, counts: group.counts,
                tests: tests)
        }
        return TestTree(
            configurations: configurations, suites: suites, tally: tally, found: rows.count,
            more: max(0, rows.count - max(0, after) - shown.count))
    }
}
