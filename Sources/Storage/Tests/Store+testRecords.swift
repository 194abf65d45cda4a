import Foundation
import GRDB
import Model

extension Store {
    /// The fewest tests for which a profile is used. For fewer tests, a profile would save less than reading it costs.
    static let testsForAProfile = 500
    /// The most records that are encoded against one profile. The profile's size then adds a hundredth to each record, and durations have not drifted
    /// far from it. Half of a profile is durations.
    static let recordsOfAProfile = 100

    /// The attempt whose tests are stored, with the values that encoding needs.
    struct TestedAttempt: Sendable {
        var row: Int64
        var bot: Int64
        /// The ref of the integrations it is compared with: its own, or a pull request's base.
        var ref: String
        var number: Int
        var job: Name
    }

    static func testedAttempt(_ id: AttemptID, row: Int64, _ db: Database) throws -> TestedAttempt {
        let found = try db.first(
            "SELECT bot, coalesce(base, ref) AS compared FROM integrations WHERE id = (SELECT integration FROM attempts WHERE id = ?)",
            [row]
        ) {
            TestedAttempt(
                row: row, bot: try $0["bot"], ref: try $0["compared"], number: id.integration.number, job: id.job)
        }
        guard let found else { throw Refusal.notFound("attempt \(id)") }
        return found
    }

    // MARK: Names

    static func testID(_ key: NamedTests.Key, bot: Int64, _ db: Database) throws -> Int64? {
        try db.first("SELECT id FROM test_names WHERE bot = ? AND suite = ? AND name = ?", [bot, key.suite, key.name]) {
            try $0[0]
        }
    }

    static func makeTestID(_ key: NamedTests.Key, bot: Int64, _ db: Database) throws -> Int64 {
        if let id = try testID(key, bot: bot, db) { return id }
        try db.change("INSERT INTO test_names (bot, suite, name) VALUES (?, ?, ?)", [bot, key.suite, key.name])
        return db.lastInsertedRowID
    }

    // MARK: Writing

    /// Stores few tests in one transaction.
    static func storeTests(_ tests: [TestResult], of attempt: TestedAttempt, _ db: Database) throws {
        guard !tests.isEmpty else { return }
        let zstd = try Zstd()
        let named = try NamedTests(NamedTests.distinct(tests)) { try makeTestID($0, bot: attempt.bot, db) }
        let encoded = try encode(named, of: attempt, zstd, db)
        for row in encoded.rows { try insert(row, attempt: attempt.row, db) }
        try insert(encoded, profile: try makeProfile(encoded, of: attempt, db), attempt: attempt.row, db)
    }

    /// Stores the rows, names and profile of many tests, one write per batch. The caller stores the record later, which makes them visible.
    /// - Returns: A closure that writes the record; `nil` if there is no test.
    func storeTests(
        _ operation: String, _ tests: [TestResult], of attempt: TestedAttempt
    ) async throws(StoreError) -> (@Sendable (Database) throws -> Void)? {
        guard !tests.isEmpty else { return nil }
        // A reader's queue runs the longer work, so that neither the writer nor the cooperative pool is blocked.
        let remembered = testNames.ids(of: attempt.bot)
        let (distinct, found, missing) = try await read(operation) { db in
            let distinct = NamedTests.distinct(tests)
            let unknown = distinct.map(\.key).filter { remembered[$0] == nil }
            let found = try Self.testIDs(of: unknown, bot: attempt.bot, db)
            return (distinct, found, unknown.filter { found[$0] == nil })
        }
        var new = found
        var next = 0
        while next < missing.count {
            let made = try await writer.write(operation) { [next] transaction in
                var made: [Int64] = []
                _ = try Self.insertBatch(missing[next...]) { place in
                    made.append(try Self.makeTestID(missing[place], bot: attempt.bot, transaction.db))
                }
                return made
            }
            for (key, id) in zip(missing[next...], made) { new[key] = id }
            next += made.count
        }
        if !new.isEmpty { testNames.remember(new, of: attempt.bot) }
        let encoded = try await read(operation) { [new] db in
            let named = try NamedTests(distinct) { key in
                guard let id = remembered[key] ?? new[key] else {
                    throw Refusal.notFound("test \(key.suite)/\(key.name)")
                }
                return id
            }
            return try Self.encode(named, of: attempt, try Zstd(), db)
        }
        try await insertBatches(operation, encoded.rows) { db, _, row in
            try Self.insert(row, attempt: attempt.row, db)
        }
        let profile = try await writer.write(operation) { try Self.makeProfile(encoded, of: attempt, $0.db) }
        return { db in try Self.insert(encoded, profile: profile, attempt: attempt.row, db) }
    }

    private static func testIDs(
        of keys: [NamedTests.Key], bot: Int64, _ db: Database
    ) throws -> [NamedTests.Key: Int64] {
        var ids: [NamedTests.Key: Int64] = [:]
        ids.reserveCapacity(keys.count)
        for key in keys {
            if let id = try testID(key, bot: bot, db) { ids[key] = id }
        }
        return ids
    }

    private static func encode(
        _ named: NamedTests, of attempt: TestedAttempt, _ zstd: Zstd, _ db: Database
    ) throws -> EncodedTests {
        let reading = TestReading(db, zstd)
        let makesProfile = named.tests.count >= testsForAProfile
        let profile = makesProfile ? try openProfile(of: attempt, reading, db) : nil
        return try EncodedTests(
            named, before: try columnsBefore(attempt, reading, db), profile: profile, makesProfile: makesProfile, zstd)
    }

    /// Returns the configuration's newest profile; `nil` if there is none, or `recordsOfAProfile` records use it.
    private static func openProfile(
        of attempt: TestedAttempt, _ reading: TestReading, _ db: Database
    ) throws -> EncodedTests.Profile? {
        let found: (id: Int64, uses: Int)? = try db.first(
            """
            SELECT id, (SELECT count(*) FROM test_records WHERE profile = test_profiles.id) AS uses
            FROM test_profiles WHERE bot = ? AND job = ? ORDER BY id DESC LIMIT 1
            """, [attempt.bot, attempt.job.description]
        ) { (try $0["id"], try $0["uses"]) }
        guard let found, found.uses < recordsOfAProfile else { return nil }
        return EncodedTests.Profile(id: found.id, columns: try reading.profile(found.id))
    }

    /// Returns the tests that the configuration ran in the branch's previous integration, with their outcomes. That is the newest comparable
    /// integration (see `previous(of:)`) that ran any, if it is among the last 20; otherwise `nil`.
    private static func columnsBefore(
        _ attempt: TestedAttempt, _ reading: TestReading, _ db: Database
    ) throws -> TestColumns? {
        let before: Int64? = try db.first(
            """
            SELECT attempts.id FROM attempts JOIN (
                SELECT * FROM (SELECT id FROM integrations WHERE bot = ?1 AND ref = ?2 AND number < ?3 AND state = 'completed'
                AND removed_at IS NULL AND verdict NOT IN ('canceled', 'checkout-error', 'internal-error')
                ORDER BY number DESC LIMIT \(maximumLookBack))
                UNION ALL SELECT parent.id FROM integrations AS own
                JOIN integrations AS parent ON parent.bot = own.bot AND parent.number = own.parted_from
                WHERE own.bot = ?1 AND own.number = ?3 AND parent.removed_at IS NULL
            ) AS earlier ON earlier.id = integration
            WHERE job = ?4 AND state = 'processed' AND attempts.id IN (SELECT attempt FROM test_records)
            ORDER BY integration DESC, attempt DESC LIMIT 1
            """, [attempt.bot, attempt.ref, attempt.number, attempt.job.description]
        ) { try $0[0] }
        return try before.flatMap { try reading.columns(of: $0, durations: false, details: false) }
    }

    /// Stores the new profile, if there is one.
    /// - Returns: The row of the profile against which the record is encoded; `nil` if there is none.
    private static func makeProfile(
        _ encoded: EncodedTests, of attempt: TestedAttempt, _ db: Database
    ) throws -> Int64? {
        guard let bytes = encoded.newProfile else { return encoded.profile }
        try db.change(
            "INSERT INTO test_profiles (bot, job, record) VALUES (?, ?, ?)",
            [attempt.bot, attempt.job.description, Data(bytes)])
        return db.lastInsertedRowID
    }

    static func insert(_ encoded: EncodedTests, profile: Int64?, attempt: Int64, _ db: Database) throws {
        try db.change(
            "INSERT INTO test_records (attempt, profile, record) VALUES (?, ?, ?)",
            [attempt, profile, Data(encoded.record)])
    }

    static func insert(_ row: TestRow, attempt: Int64, _ db: Database) throws {
        let test = row.result
        try db.change(
            """
            INSERT INTO test_rows (attempt, test, outcome, before, duration, message, path, line)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                attempt, row.test, test.outcome.rawValue, row.before?.rawValue, test.duration?.microseconds,
                test.message, test.path, test.line,
            ])
    }
}
