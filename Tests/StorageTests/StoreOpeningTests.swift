import Foundation
import GRDB
import Model
import TestSupport
import Testing

@testable import Storage

@Suite struct StoreOpeningTests {
    @Test(
        .proves(
            .testHistory,
            "The database's log is used again, also after a read that took long; a kill beside it loses nothing that was committed"
        ))
    func testThatItMakesCommitsDurable() async throws {
        try await withStore { fixture in
            // when
            let (journal, synchronous, foreignKeys, limit) = try await fixture.store.writer.write("ask") {
                transaction in
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
            let milliseconds = try await fixture.store.writer.write("ask") {
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

    @Test(.proves(.storage, "Every write may fail; a newer schema is refused"), .threat("PW4"))
    func testThatItRefusesANewerSchemaAndLeavesItAlone() async throws {
        try await withStorePath { path in
            // given
            let store = try Store.open(path: path)
            try await store.createToken(name: "a", role: .viewer, hash: "1", at: time(1))
            try await store.writer.write("age") {
                try $0.db.execute(sql: "INSERT INTO grdb_migrations VALUES ('9999')")
            }
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
            try await fixture.store.writer.write("damage") {
                try $0.db.execute(sql: "UPDATE integrations SET cause = 'moon'")
            }
            await expectFailure(.corrupt, "cause") { try await fixture.store.integration(id) }
        }
    }
}
