import Foundation
import GRDB
import Model
import TestSupport
import Testing

@testable import Storage

/// Whatever a damaged file has in place of a column's value, a read returns or throws. It never ends the process.
@Suite struct StoreDamageTests {
    @Test(.proves(.intake, "Rows are read in one checked way: an invalid value is an error that names its column"))
    func testThatNoValueOfAnyColumnEndsAReading() async throws {
        try await withStorePath { path in
            // given: rows in every table, and tables that accept any value
            let tables = try await Self.prepare(path)
            #expect(tables.count > 30)
            let store = try Store.open(path: path)
            let other = try DatabaseQueue(path: path)
            try await other.writeWithoutTransaction {
                try $0.execute(sql: "PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON")
            }
            #expect(try await Self.read(store) == [], "sound rows are read")
            var damaged: Set<String> = []
            func damage(_ table: String, _ columns: [String], _ value: String) async throws {
                // when: the file is written without the store
                let changes = columns.map { "\"\($0)\" = \(value)" }.joined(separator: ", ")
                try await other.write { db in
                    try db.execute(sql: "CREATE TEMP TABLE kept AS SELECT * FROM \"\(table)\"")
                    // SQLite itself refuses some: a row's own number is never NULL.
                    try? db.execute(sql: "UPDATE OR IGNORE \"\(table)\" SET \(changes)")
                }
                // then
                if try await !Self.read(store).isEmpty { damaged.formUnion(columns.map { "\(table).\($0)" }) }
                try await other.write { db in
                    try db.execute(sql: "DELETE FROM \"\(table)\"; INSERT INTO \"\(table)\" SELECT * FROM temp.kept")
                    try db.execute(sql: "DROP TABLE temp.kept")
                }
            }
            for (table, columns) in tables {
                for column in columns {
                    for value in ["NULL", "x'00ff'"] { try await damage(table, [column], value) }
                }
                let others = columns.filter { !["id", "bot", "integration", "attempt", "repository"].contains($0) }
                for column in others { try await damage(table, [column], "-9223372036854775808") }
            }
            #expect(damaged.isSuperset(of: ["tokens.name", "integrations.cause", "test_rows.outcome"]))
            #expect(damaged.count > 60, "\(damaged.sorted())")
            #expect(try await Self.read(store) == [], "each was put back")
            try other.close()
            try store.close()
        }
    }

    /// - Returns: The columns of all tables.
    private static func prepare(_ path: String) async throws -> [String: [String]] {
        try EarlierDatabase.create(version: 1, at: path)
        let queue = try DatabaseQueue(path: path)
        defer { try? queue.close() }
        try Schema.migrator.migrate(queue)
        return try await queue.writeWithoutTransaction { db in
            try db.execute(sql: rows)
            // The tables check neither types nor NULL, like a file with flipped bits.
            try db.execute(
                sql: """
                    PRAGMA writable_schema = ON;
                    UPDATE sqlite_schema SET sql = replace(replace(replace(replace(replace(
                        sql, 'IS NOT NULL', 'NOTNULL'), ' NOT NULL', ''), 'NOTNULL', 'IS NOT NULL'),
                        ') STRICT, WITHOUT ROWID', ') WITHOUT ROWID'), ') STRICT', ')')
                        WHERE type = 'table' AND name NOT LIKE 'sqlite%';
                    PRAGMA writable_schema = RESET;
                    """)
            let columns = try Row.fetchAll(
                db,
                sql: """
                    SELECT tables.name AS name, columns.name AS "column" FROM sqlite_schema AS tables
                    JOIN pragma_table_info(tables.name) AS columns
                    WHERE tables.type = 'table' AND tables.name NOT LIKE 'sqlite%' AND tables.name NOT LIKE 'grdb%'
                    """
            )
            return Dictionary(grouping: columns) { $0["name"] as String }.mapValues {
                $0.map { $0["column"] as String }
            }
        }
    }

    /// Rows of the tables that were added later.
    private static let rows = """
        UPDATE bots SET specification = '{"product":"kit"}';
        UPDATE integrations SET pull_request = 7, pull_place = 'refs/pull/7/head', base = 'refs/heads/main',
            base_commit = "commit", head = "commit", superseded_by = 1, specification = NULL, disk_run = 1,
            disk_bytes = 1, disk_files = 1 WHERE id = 2;
        INSERT INTO integrations (id, bot, number, repository, ref, "commit", cause, state, step, is_release, is_clean,
            queued_at) VALUES (3, 1, 42, 1, 'refs/heads/main', '0000000000000000000000000000000000000011', 'person',
            'queued', 'pending', 0, 0, 1000), (4, 1, 43, 1, 'refs/heads/main',
            '0000000000000000000000000000000000000011', 'person', 'running', 'preparing', 0, 0, 1000);
        INSERT INTO reruns VALUES (2, 2, 'ann', 1000, 0, NULL, 0, '{}');
        INSERT INTO silences VALUES (1, 'f1', 'known', 'ann', 1000, NULL);
        INSERT INTO pull_silences VALUES (1, 7, 'f1', 'known', 'ann', 1000, NULL);
        INSERT INTO coverage VALUES (1, 0, 1, 2, NULL, NULL, NULL, NULL, x'0100');
        INSERT INTO pull_requests (repository, number, ref, place, base, is_open, head)
            VALUES (1, 7, 'refs/pull/7/head', 'refs/pull/7/head', 'refs/heads/main', 1,
            '0000000000000000000000000000000000000011');
        INSERT INTO pull_approvals VALUES (1, 7, 'refs/heads/main', '0000000000000000000000000000000000000011', 'ann', 1);
        INSERT INTO outbox (kind, destination, account, subject, is_first, bot, number, content, state, next_at,
            created_at) VALUES ('mail', 'ann', '', 'kit main', 1, 'kit', 41, '{"moment":"completed","commit":
            "0000000000000000000000000000000000000011","ref":"refs/heads/main","at":1000,"run":1}', 'waiting', 1000, 1000);
        INSERT INTO comments VALUES ('kit', 7, 'forge', 'acme/kit', 3);
        INSERT INTO standings VALUES (1, 'refs/heads/main', 1, 41, NULL, NULL);
        INSERT INTO schedules VALUES (1, 'daily', 1000);
        INSERT INTO toolchains VALUES (1, '6.3', NULL, NULL);
        INSERT INTO downloads VALUES ('kit', '1.4.0', 'kit.tar.zst', 3);
        INSERT INTO removals VALUES (1, 39, 1000, 'old');
        INSERT INTO retention_clock VALUES (1, 1000);
        UPDATE versions SET registry = 'acme.kit', repository = 'https://git.example/kit.git';
        """

    /// Runs every query.
    /// - Returns: The thrown errors.
    private static func read(_ store: Store) async throws -> [String] {
        let (bot, url) = (try name("kit"), StoreFixture.repository)
        let id = IntegrationID(bot: bot, number: 41)
        let attempt = AttemptID(integration: id, job: try name("debug"), attempt: 1)
        let package = try #require(PackageIdentifier("acme.kit"))
        let place = OutboxPlace(kind: .mail, name: "ann", account: "")
        let questions: [(Store) async throws -> Any?] = [
            { try await $0.artifacts(of: id) }, { try await $0.attempts(of: id) }, { try await $0.bot(bot) },
            { try await $0.botOverviews(branches: 8) }, { try await $0.bots() },
            { try await $0.comment(at: .init(bot: bot, number: 7, destination: "forge", project: "acme/kit")) },
            { try await $0.coverage(of: id) }, { try await $0.deliveries() }, { try await $0.downloads(of: bot) },
            { try await $0.earlierTests(before: id, configuration: attempt.job) },
            { try await $0.findings(of: attempt) }, { try await $0.flakyTests(of: bot) },
            { try await $0.hasSandboxedAttempts() }, { try await $0.hasTokens() },
            { try await $0.hasUnfinishedAttempts() }, { try await $0.heads() },
            { try await $0.heads(of: url) }, { try await $0.historyBefore(id) }, { try await $0.hookedRepositories() },
            { try await $0.integration(id) },
            { try await $0.integrations() }, { try await $0.issueChanges(of: id) },
            { try await $0.issueListing(of: id, limit: 200) }, { try await $0.lastCompleted() },
            { try await $0.issues(of: id) },
            { try await $0.lastFailures(of: "KitTests/testTwo", bot: bot) },
            { try await $0.latestIntegration(of: bot) }, { try await $0.latestOfPulls(of: bot) },
            { try await $0.namedTests(of: bot) },
            { try await $0.newestPublished(product: bot, branch: "release/1.4") }, { try await $0.newestRow() },
            { try await $0.openCounts() }, { try await $0.openIssues(of: id) }, { try await $0.openPulls(of: url) },
            { try await $0.outbox() },
            { try await $0.outboxCounts() }, { try await $0.outboxPlaces() },
            { try await $0.outlines(of: package) },
            { try await $0.outlines(of: bot) }, { try await $0.overflow(of: place, keeping: 0) },
            { try await $0.packages() }, { try await $0.preparing(of: url) }, { try await $0.previous(of: id) },
            { try await $0.product(of: bot) }, { try await $0.products() }, { try await $0.products(madeBy: id) },
            { try await $0.publishedLately(bot, limit: 10) }, { try await $0.pushedRange(of: id) },
            { try await $0.queued() }, { try await $0.refUpdates() },
            { try await $0.removal(of: .init(bot: bot, number: 39)) }, { try await $0.removedIntegrations() },
            { try await $0.recentRefs(of: bot) }, { try await $0.repositoriesToScan() },
            { try await $0.repository(url) }, { try await $0.reruns(of: id) },
            { try await $0.reservations() }, { try await $0.retentionRows(of: bot) }, { try await $0.retentions() },
            { try await $0.running() }, { try await $0.scheduleMarks() }, { try await $0.silencedIssues(of: bot) },
            { try await $0.silencedConfigurations(of: id, among: [attempt.job]) }, { try await $0.silences(for: id) },
            { try await $0.silences(of: bot) },
            { try await $0.specification(of: id) }, { try await $0.specifications() },
            { try await $0.testGrid(of: id) },
            { try await $0.testHistory(of: "KitTests/testTwo", bot: bot) },
            { try await $0.testHistory(of: "testOne", bot: bot) }, { try await $0.tests(of: id) },
            { try await $0.testsRun(of: id, named: ["KitTests/testOne"]) }, { try await $0.token(hash: "hash") },
            { try await $0.tokens() }, { try await $0.notifiedIssues(of: id) }, { try await $0.toolchainMarks() },
            { try await $0.triggers(of: id) }, { try await $0.versionCounts() }, { try await $0.versions(of: bot) },
        ]
        var thrown: [String] = []
        for question in questions {
            do { _ = try await question(store) } catch { thrown.append("\(error)") }
        }
        return thrown
    }
}
