import Foundation
import GRDB
import Model
import TestSupport
import Testing

@testable import Storage

@Suite struct MigrationsTests {
    static let versions = Schema.migrations.map(\.number)

    @Test func testThatMigrationsAreNumberedInOrder() {
        #expect(Self.versions.count >= 23)
        #expect(Self.versions == Array(1...Self.versions.count))
    }

    @Test func testThatOnlyANumberedLineBeginsAMigration() {
        // given
        let text = """
            -- What comes before belongs to none.
            -- 0001 first: add a table
            -- 0002, the next, is another.
            CREATE TABLE a (b);

            -- 0002 second one: add: an index
            CREATE INDEX a_by_b ON a (b);
            """
        // when
        let migrations = Schema.parse(text)
        // then
        #expect(migrations.map(\.number) == [1, 2])
        #expect(migrations.map(\.identifier) == ["first", "second one"])
        #expect(migrations.map { $0.sql.contains("CREATE TABLE") } == [true, false])
        #expect(migrations.map { $0.sql.contains("CREATE INDEX") } == [false, true])
    }

    /// A migration that was changed after databases ran it would fail here.
    @Test(
        .proves(
            .storage, "A database of every earlier schema version gets exactly the schema of today and keeps its rows"),
        arguments: versions)
    func testThatMigrationsMakeTheSchemaOfEachVersionByteForByte(_ number: Int) async throws {
        try await withTemporaryDirectory { directory in
            // given
            let stored = directory.path("stored.sqlite")
            try EarlierDatabase.create(version: number, at: stored)
            let migration = try #require(Schema.migrations.first { $0.number == number })

            // when
            let made = directory.path("made.sqlite")
            let queue = try DatabaseQueue(path: made)
            try Schema.migrator.migrate(queue, upTo: migration.identifier)
            try queue.close()

            // then
            #expect(try contents(of: made, Self.objects) == contents(of: stored, Self.objects))
            let identifiers = "SELECT identifier FROM grdb_migrations ORDER BY identifier"
            #expect(try contents(of: made, identifiers) == contents(of: stored, identifiers))
        }
    }

    @Test(
        .proves(
            .storage, "A database of every earlier schema version gets exactly the schema of today and keeps its rows"),
        .threat("PW4"), arguments: versions)
    func testThatADatabaseOfEachVersionGetsTodaysSchemaAndKeepsItsRows(_ number: Int) async throws {
        try await withTemporaryDirectory { directory in
            // given
            let (new, path) = (directory.path("new.sqlite"), directory.path("martlet.sqlite"))
            try Store.open(path: new).close()
            try EarlierDatabase.create(version: number, at: path)
            let tables = try tables(of: path)
            let before = try rows(of: path, tables)

            // when
            try Store.open(path: path).close()

            // then
            #expect(try contents(of: path, Self.objects) == contents(of: new, Self.objects))
            #expect(try contents(of: path, "SELECT quote(\"table\") FROM pragma_foreign_key_check") == [])
            #expect(try contents(of: path, "PRAGMA integrity_check") == ["ok"])
            let after = try rows(of: path, tables)
            for table in tables {
                let lost = before[table.name, default: []].subtracting(after[table.name, default: []])
                #expect(before[table.name]?.isEmpty == false, "\(table.name) has no row to keep")
                #expect(lost == [], "\(table.name)")
            }
        }
    }

    /// SQLite uses a partial index only for its own condition.
    @Test func testThatTheIndexOfChangedTestsHasTheConditionOfTheQuery() throws {
        let migration = try #require(Schema.migrations.first { $0.identifier == "found" })
        #expect(migration.sql.contains("ON test_rows (attempt) WHERE \(Store.hasChangedOrIsFlaky);"))
    }

    @Test(
        .proves(.testHistory, "Databases with a row a result are brought forward"), .threat("PW4"), arguments: versions)
    func testThatEarlierRowsAreReadAfterTheMigrations(_ number: Int) async throws {
        try await withStorePath { path in
            // given
            try EarlierDatabase.create(version: number, at: path)

            // when
            let store = try Store.open(path: path)

            // then
            let fixture = StoreFixture(store: store, path: path)
            let id = IntegrationID(bot: try name("kit"), number: 41)
            let record = try #require(try await store.integration(id))
            #expect(record.state == .completed(.warnings, triggerFailed: false))
            #expect(record.summary?.counts.warnings == 1)
            #expect(try await store.bot(id.bot)?.latest?.id == id)
            #expect(try await store.issueListing(of: id, limit: 200).items.map(\.fingerprint) == ["f1"])
            #expect(try await store.previous(of: id)?.id.number == 40)
            #expect(try await store.heads(of: StoreFixture.repository) == [.line: commit(2), .main: commit(1)])
            #expect(try await store.attempts(of: id).map(\.steps.count) == [1])
            #expect(try await store.tests(of: id).map(\.result) == EarlierDatabase.tests)
            #expect(try await store.tests(of: id, failingOnly: true).map(\.result) == [EarlierDatabase.tests[1]])
            #expect(try await store.issues(of: id).map(\.status) == [.new])
            #expect(try await store.artifacts(of: id).map(\.artifact.path) == ["products/kit.tar.zst"])
            #expect(try await store.triggers(of: id).map(\.state) == [.succeeded])
            #expect(try await store.versions(of: name("kit")).map(\.version) == [version("1.4.0")])
            #expect(try await Set(store.deliveries().items.map(\.outcome)) == [.integrated])
            #expect(try await store.tokens().first.map { [$0.role] } == [.admin])
            #expect(try await fixture.damage() == [])
            try store.close()
        }
    }

    /// The bot got another repository since. A version whose integration is gone gets that one.
    @Test(
        .proves(
            .releases, "Registry: A version stays of the repository that it was made of, wherever its bot looks today"))
    func testThatVersionsOfBeforeGetTheirRepository() async throws {
        try await withStorePath { path in
            // given
            try EarlierDatabase.create(version: 1, at: path)
            let queue = try DatabaseQueue(path: path)
            try await queue.write { db in
                try db.execute(
                    sql: """
                        INSERT INTO repositories (id, url) VALUES (2, 'https://git.example/other.git');
                        UPDATE bots SET repository = 2;
                        INSERT INTO versions (product, version, state, "commit", ref, integration, reserved_at, published_at)
                            VALUES ('kit', '1.5.0', 'published', '0000000000000000000000000000000000000011',
                            'refs/heads/main', 'kit#41', 1, 2),
                            ('kit', '1.3.0', 'published', '0000000000000000000000000000000000000011',
                            'refs/heads/main', 'lost#1', 1, 2);
                        """)
            }
            try queue.close()

            // when
            let store = try Store.open(path: path)

            // then
            let versions = try await store.versions(of: name("kit"))
            #expect(versions.map(\.version.description) == ["1.5.0", "1.4.0", "1.3.0"])
            #expect(
                versions.map(\.repository) == ["https://git.example/kit.git", "https://git.example/other.git", nil])
            try store.close()
        }
    }

    // MARK: Reading the files beside the store

    /// Each object of the schema, as SQLite stores it.
    private static let objects = """
        SELECT type || ' ' || name || ' ' || tbl_name || char(10) || coalesce(sql, '') FROM sqlite_master ORDER BY type, name
        """

    private struct Table {
        var name: String
        var columns: [String]
    }

    private func contents(of path: String, _ sql: String) throws -> [String] {
        let queue = try DatabaseQueue(path: path)
        let contents = try queue.read { try String.fetchAll($0, sql: sql) }
        try queue.close()
        return contents
    }

    /// Returns the tables of a database, except `tests`, which migration 4 converts, and SQLite's own.
    private func tables(of path: String) throws -> [Table] {
        let names = """
            SELECT name FROM sqlite_master WHERE type = 'table' AND name <> 'tests' AND name NOT LIKE 'sqlite_%'
            """
        return try contents(of: path, names).map { name in
            Table(name: name, columns: try contents(of: path, "SELECT name FROM pragma_table_info('\(name)')"))
        }
    }

    /// Returns the rows of each table in these columns, each as one text. The health of pull requests, which migration 17 deletes, is left out.
    private func rows(of path: String, _ tables: [Table]) throws -> [String: Set<String>] {
        var rows: [String: Set<String>] = [:]
        for table in tables {
            let columns = table.columns.map { "quote(\"\($0)\")" }.joined(separator: " || ', ' || ")
            let condition = table.name == "standings" ? "WHERE ref NOT GLOB 'refs/pull/*'" : ""
            rows[table.name] = Set(try contents(of: path, "SELECT \(columns) FROM \(table.name) \(condition)"))
        }
        return rows
    }
}
