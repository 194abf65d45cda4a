import GRDB
import Model

extension Schema {
    /// Test results over time: one compressed record per attempt (`TestRecord`), and rows for tests that did not pass or have changed. Before this
    /// migration, each result was a row of the table `tests`.
    private static let testRecords = """
        CREATE TABLE test_names (
            id INTEGER PRIMARY KEY,
            bot INTEGER NOT NULL REFERENCES bots(id),
            suite TEXT NOT NULL,
            name TEXT NOT NULL,
            UNIQUE (bot, suite, name)
        ) STRICT;

        CREATE TABLE test_profiles (               -- what records are written against
            id INTEGER PRIMARY KEY,
            bot INTEGER NOT NULL REFERENCES bots(id),
            job TEXT NOT NULL,
            record BLOB NOT NULL
        ) STRICT;
        CREATE INDEX test_profiles_by_job ON test_profiles (bot, job);

        CREATE TABLE test_records (
            attempt INTEGER PRIMARY KEY REFERENCES attempts(id),
            profile INTEGER REFERENCES test_profiles(id),
            record BLOB NOT NULL
        ) STRICT;
        CREATE INDEX test_records_by_profile ON test_records (profile) WHERE profile IS NOT NULL;

        CREATE TABLE test_rows (
            id INTEGER PRIMARY KEY,
            attempt INTEGER NOT NULL REFERENCES attempts(id),
            test INTEGER NOT NULL REFERENCES test_names(id),
            outcome TEXT NOT NULL,
            before TEXT,                           -- in the branch's integration before; NULL: not run, or none before
            duration INTEGER,                      -- microseconds
            message TEXT,
            path TEXT,
            line INTEGER,
            UNIQUE (attempt, test)
        ) STRICT;
        CREATE INDEX test_rows_by_test ON test_rows (test, attempt);
        """

    /// Creates the tables and converts the rows of `tests` into records. Results of attempts that were not processed completely are left out, because
    /// they are read again.
    static func addTestRecords(_ db: Database) throws {
        try db.execute(sql: testRecords)
        let zstd = try Zstd()
        let attempts = try db.rows(
            """
            SELECT attempts.id, bot FROM attempts JOIN integrations ON integrations.id = integration
            WHERE attempts.id IN (SELECT attempt FROM tests) AND attempts.state = 'processed' ORDER BY attempts.id
            """)
        for attempt in attempts {
            let (id, bot): (Int64, Int64) = (try attempt["id"], try attempt["bot"])
            let tests = try db.rows(
                "SELECT * FROM tests WHERE attempt = ? ORDER BY place", [id]
            )
            .map { row in
                TestResult(
                    suite: try row["suite"], name: try row["name"],
                    outcome: try row.value("outcome") { TestResult.Outcome(rawValue: $0) },
                    duration: (try row["duration"] as Int64?).map { .microseconds($0) }, message: try row["message"],
                    path: try row["path"], line: try row["line"])
            }
            let named = try NamedTests(NamedTests.distinct(tests)) { try Store.makeTestID($0, bot: bot, db) }
            let encoded = try EncodedTests(named, before: nil, profile: nil, makesProfile: false, zstd)
            for row in encoded.rows { try Store.insert(row, attempt: id, db) }
            try Store.insert(encoded, profile: nil, attempt: id, db)
        }
        try db.execute(sql: "DROP TABLE tests")
    }
}
