import Foundation
import GRDB
import Model
import TestSupport
import Testing

@testable import Storage

@Suite struct StoreOpeningTests {
    @Test func testThatItMakesCommitsDurable() async throws {
        try await withStore { fixture in
            // when
            let (journal, synchronous, foreignKeys, limit) = try await fixture.store.lane.write("ask") { transaction in
                (
                    try String.fetchOne(transaction.db, sql: "PRAGMA journal_mode"),
                    try Int.fetchOne(transaction.db, sql: "PRAGMA synchronous"),
                    try Int.fetchOne(transaction.db, sql: "PRAGMA foreign_keys"),
                    try Int.fetchOne(transaction.db, sql: "PRAGMA journal_size_limit")
                )
            }

            // then: 2 is FULL
            #expect(journal == "wal")
            #expect(synchronous == 2)
            #expect(foreignKeys == 1)
            #expect(limit == 64 << 20)
        }
    }

    @Test func testThatItWaitsForAnotherProcess() async throws {
        try await withStore { fixture in
            let milliseconds = try await fixture.store.lane.write("ask") {
                try Int.fetchOne($0.db, sql: "PRAGMA busy_timeout")
            }
            #expect(milliseconds == 5000)
        }
    }

    @Test func testThatEveryTableIsStrict() async throws {
        try await withStore { fixture in
            let loose = try await fixture.store.read("ask") { db in
                try String.fetchAll(
                    db,
                    sql: """
                        SELECT name FROM pragma_table_list WHERE type = 'table' AND schema = 'main' AND NOT strict
                        AND name NOT LIKE 'sqlite_%' AND name NOT LIKE 'grdb_%'
                        """)
            }
            #expect(loose == [])
        }
    }

    @Test func testThatOnlyItsUserCanReadTheFiles() async throws {
        try await withStorePath { path in
            // given: a file that other users could read
            #expect(FileManager.default.createFile(atPath: path, contents: nil, attributes: [.posixPermissions: 0o644]))

            // when
            let store = try Store.open(path: path)
            try await store.createToken(name: "a", role: .viewer, hash: "1", at: time(1))

            // then
            for suffix in ["", "-wal", "-shm"] {
                let mode = try FileManager.default.attributesOfItem(atPath: path + suffix)[.posixPermissions] as? Int
                #expect(mode == 0o600, "\(suffix)")
            }
            try store.close()
        }
    }

    @Test(.threat("PW4")) func testThatItRefusesANewerSchemaAndLeavesItAlone() async throws {
        try await withStorePath { path in
            // given
            let store = try Store.open(path: path)
            try await store.createToken(name: "a", role: .viewer, hash: "1", at: time(1))
            try await store.lane.write("age") { try $0.db.execute(sql: "INSERT INTO grdb_migrations VALUES ('9999')") }
            try store.close()
            let before = try Data(contentsOf: URL(fileURLWithPath: path))

            // when
            await expectFailure(.newerSchema, "install that version") { try Store.open(path: path) }

            // then
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
        }
    }

    @Test(.threat("PW2")) func testThatItRefusesWhatIsNoDatabase() async throws {
        try await withStorePath { path in
            try Data("these are not the rows you are looking for, in more than a header's sixteen bytes".utf8)
                .write(to: URL(fileURLWithPath: path))
            await expectFailure(.corrupt, "restore a backup") { try Store.open(path: path) }
        }
    }

    @Test func testThatItSaysWhenTheDirectoryIsMissing() async throws {
        try await withStorePath { path in
            await expectFailure(.cannotOpen, "No such file or directory") { try Store.open(path: path + "/below/it") }
        }
    }

    @Test func testThatAClosedStoreRefusesEverything() async throws {
        try await withStorePath { path in
            let store = try Store.open(path: path)
            try store.close()
            await expectFailure(.closed) { try await store.tokens() }
            await expectFailure(.closed) {
                try await store.createToken(name: "a", role: .viewer, hash: "1", at: time(1))
            }
        }
    }

    @Test func testThatItSaysWhichColumnIsDamaged() async throws {
        try await withStore { fixture in
            let id = try await fixture.queue().id
            try await fixture.store.lane.write("damage") {
                try $0.db.execute(sql: "UPDATE integrations SET cause = 'moon'")
            }
            await expectFailure(.corrupt, "cause") { try await fixture.store.integration(id) }
        }
    }

    @Test(.threat("PW4")) func testThatEarlierRowsAreReadAfterTheMigrations() async throws {
        try await withStorePath { path in
            // given: a file as the first version wrote it
            let pool = try DatabasePool(path: path)
            try Schema.migrator.migrate(pool, upTo: "1")
            try await pool.write { try $0.execute(sql: SampleRows.version1) }
            try pool.close()

            // when
            let store = try Store.open(path: path)

            // then
            let fixture = StoreFixture(store: store, path: path)
            let id = IntegrationID(bot: try name("kit"), number: 41)
            let record = try #require(try await store.integration(id))
            #expect(record.state == .completed(.warnings, triggerFailed: false))
            #expect(record.summary?.counts.warnings == 1)
            #expect(try await store.bots().map(\.latest?.id) == [id])
            #expect(try await store.issueListing(of: id, limit: 200).items.map(\.fingerprint) == ["f1"])
            #expect(try await store.previous(of: id)?.id.number == 40)
            #expect(try await store.heads(of: StoreFixture.repository) == [.line: commit(2), .main: commit(1)])
            #expect(try await store.attempts(of: id).map(\.steps.count) == [1])
            #expect(try await store.tests(of: id).map(\.result) == SampleRows.tests)
            #expect(try await store.tests(of: id, failingOnly: true).map(\.result) == [SampleRows.tests[1]])
            #expect(try await store.issues(of: id).map(\.status) == [.new])
            #expect(try await store.artifacts(of: id).map(\.artifact.path) == ["products/kit.tar.zst"])
            #expect(try await store.triggers(of: id).map(\.state) == [.succeeded])
            #expect(try await store.versions(of: name("kit")).map(\.version) == [version("1.4.0")])
            #expect(try await store.deliveries().items.map(\.fate) == [.integrated])
            #expect(try await store.tokens().map(\.role) == [.admin])
            #expect(try await fixture.damage() == [])
            try store.close()
        }
    }

    /// The bot has got another repository since. The repository of its integration counts, as far as it is stored.
    @Test func testThatVersionsOfBeforeGetTheirRepository() async throws {
        try await withStorePath { path in
            // given
            let pool = try DatabasePool(path: path)
            try Schema.migrator.migrate(pool, upTo: "1")
            try await pool.write { db in
                try db.execute(sql: SampleRows.version1)
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
            try pool.close()

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
}
