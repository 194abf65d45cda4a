import Foundation
import GRDB
import Model
import TestSupport
import Testing

@testable import Storage

/// The write-ahead log beside the database's file.
@Suite(
    .proves(
        .testHistory,
        "The database's log is used again, also after a read that took long; a kill beside it loses nothing that was committed"
    ))
struct StoreLogTests {
    private static let pageSize = 4096
    /// The least number of pages of one `fill`.
    private static let pages = 97

    private func fill(_ store: Store, _ times: Int) async throws {
        try await store.writer.write("make a table") {
            try $0.db.execute(sql: "CREATE TABLE IF NOT EXISTS filling (id INTEGER PRIMARY KEY, bytes BLOB) STRICT")
        }
        for _ in 0..<times {
            try await store.writer.write("fill") {
                try $0.db.execute(sql: "INSERT INTO filling (bytes) VALUES (zeroblob(400000))")
            }
        }
    }

    private func logSize(_ path: String) throws -> Int {
        try #require(try FileManager.default.attributesOfItem(atPath: path + "-wal")[.size] as? Int)
    }

    @Test func testThatTheLogIsUsedAgain() async throws {
        try await withStore { fixture in
            // when: three times the 1,000 pages after which SQLite copies the log
            try await fill(fixture.store, 30)
            // then
            #expect(try logSize(fixture.path) < 1500 * Self.pageSize)
        }
    }

    @Test func testThatAReaderThatDoesNotEndHoldsNoWriterAndTheLogIsUsedAgainAfterIt() async throws {
        try await withStore { fixture in
            // given: it reads pages that only the log has
            try await fill(fixture.store, 1)
            var configuration = Configuration()
            configuration.allowsUnsafeTransactions = true
            let reader = try DatabaseQueue(path: fixture.path, configuration: configuration)
            let count = try await reader.writeWithoutTransaction { db in
                try db.beginTransaction(.deferred)
                return try Int.fetchOne(db, sql: "SELECT count(*) FROM filling")
            }
            #expect(count == 1)
            // when
            try await fill(fixture.store, 30)
            // then: all is stored, and the log keeps it as long as the reader may need the pages from before
            let size = try logSize(fixture.path)
            #expect(size > 30 * Self.pages * Self.pageSize)
            // and: after the reader's end the log grows no further
            try await reader.writeWithoutTransaction { try $0.commit() }
            try reader.close()
            try await fill(fixture.store, 30)
            #expect(try logSize(fixture.path) < size + 2 * Self.pages * Self.pageSize)
            let stored = try await fixture.store.read("count") {
                try Int.fetchOne($0, sql: "SELECT count(*) FROM filling")
            }
            #expect(stored == 61)
        }
    }

    @Test func testThatWhatIsCommittedIsThereAfterAKill() async throws {
        try await withStore { fixture in
            // given: the log was copied and is used again
            try await fill(fixture.store, 35)
            // when: the files are copied as a crash would leave them
            let copied = fixture.path + "-copy"
            for suffix in ["", "-wal"] {
                try FileManager.default.copyItem(atPath: fixture.path + suffix, toPath: copied + suffix)
            }
            // then
            let copy = try DatabaseQueue(path: copied)
            let count = try await copy.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM filling") }
            let damage = try await copy.read { try String.fetchAll($0, sql: "PRAGMA integrity_check") }
            #expect(count == 35)
            #expect(damage == ["ok"])
            try copy.close()
        }
    }

    @Test func testThatAClosedStoreIsOneFile() async throws {
        try await withStorePath { path in
            // given
            let store = try Store.open(path: path)
            try await store.createToken(name: "a", role: .viewer, hash: "1", at: time(1))
            // when
            try store.close()
            // then
            #expect(!FileManager.default.fileExists(atPath: path + "-wal"))
        }
    }
}
