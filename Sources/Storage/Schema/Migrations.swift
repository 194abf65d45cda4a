import GRDB
import Model

/// The tables, and the migrations from every earlier version. `schema.sql` has the SQL of each migration, in order.
///
/// Migrations only go forward. Each is atomic, and never changes once it has landed. To add one, append a section to `schema.sql`, and a database of
/// the new version to `Tests/StorageTests/Versions`.
enum Schema {
    /// A section of `schema.sql`.
    struct Migration: Sendable {
        /// The place among the migrations, from 1.
        let number: Int
        /// The name under which a database records that it has run this migration.
        let identifier: String
        var sql: String
    }

    static let migrations: [Migration] = parse(String(decoding: PackageResources.schema_sql, as: UTF8.self))

    /// The parts of migrations that SQL cannot express, by number. Each runs after its migration's SQL, in the same transaction.
    private static let conversions: [Int: @Sendable (Database) throws -> Void] = [4: convertTests]

    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        for migration in migrations {
            migrator.registerMigration(migration.identifier) { db in
                try db.execute(sql: migration.sql)
                try conversions[migration.number]?(db)
            }
        }
        return migrator
    }

    /// Checks the file without writing to it, so that a file of a newer version stays unchanged, byte for byte.
    /// - Throws: A refusal with `newerSchema` if the file has a migration that this version does not know.
    static func refuseNewer(_ path: String, _ configuration: Configuration) throws {
        var configuration = configuration
        configuration.readonly = true
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        let isNewer = try queue.read(migrator.hasBeenSuperseded)
        try queue.close()
        guard !isNewer else {
            throw Refusal(
                code: .newerSchema,
                message: "it was written by a newer version of Martlet; install that version or restore an older backup"
            )
        }
    }

    /// Splits a text into its migrations. A line such as `-- 0007 found: add an index` begins one; the text before the first belongs to none.
    static func parse(_ text: String) -> [Migration] {
        var migrations: [Migration] = []
        for bytes in text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            let line = Substring(bytes)
            if let heading = heading(line) {
                migrations.append(Migration(number: heading.number, identifier: heading.identifier, sql: ""))
            }
            guard let last = migrations.indices.last else { continue }
            migrations[last].sql += "\(line)\n"
        }
        return migrations
    }

    /// Returns what a migration's first line says; `nil` for any other line. This runs at each start, for
    /// which a regular expression is too slow.
    private static func heading(_ line: Substring) -> (number: Int, identifier: String)? {
        guard line.hasPrefix("-- ") else { return nil }
        let words = line.split(separator: " ", maxSplits: 2)
        guard words.count == 3, words[1].utf8.count == 4, let number = Int(words[1]),
            let colon = words[2].firstIndex(of: ":")
        else { return nil }
        return (number, String(words[2][..<colon]))
    }

    /// Converts the rows of `tests`, which had one for each result, into records, and drops the table. Results of attempts that were not processed
    /// completely are left out, because they are read again.
    private static func convertTests(_ db: Database) throws {
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
