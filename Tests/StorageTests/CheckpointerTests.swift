import Foundation
import GRDB
import Model
import Testing

@testable import Storage

/// The writer never copies the log into the file; somebody beside it does.
@Suite struct CheckpointerTests {
    /// A pool whose writer is followed by a checkpointer with limits of its own.
    fileprivate struct Followed {
        let pool: DatabasePool
        let checkpointer: Checkpointer
        let lane: WriterLane

        init(_ path: String, due: Int, largestLog: Int) throws {
            pool = try DatabasePool(path: path)
            let checkpointer = try Checkpointer(path: path, Configuration(), due: due, largestLog: largestLog)
            try pool.writeWithoutTransaction { db in
                try db.execute(sql: "CREATE TABLE filling (id INTEGER PRIMARY KEY, bytes BLOB)")
                try checkpointer.follow(db)
            }
            self.checkpointer = checkpointer
            lane = WriterLane(pool: pool, broadcast: ChangeBroadcast(), checkpointer: checkpointer)
        }

        /// Each some six pages in the log.
        func write(_ times: Int) async throws {
            for _ in 0..<times {
                try await lane.write("fill") {
                    try $0.db.execute(sql: "INSERT INTO filling (bytes) VALUES (zeroblob(20000))")
                }
            }
        }

        /// Waits for a checkpoint that runs.
        func settle() { checkpointer.queue.writeWithoutTransaction { _ in } }

        func close() throws {
            try pool.close()
            try checkpointer.close()
        }
    }

    fileprivate func withFollowed(
        due: Int = 10, largestLog: Int = 1_000_000, _ body: (Followed, String) async throws -> Void
    ) async throws {
        try await withStorePath { path in
            let followed = try Followed(path, due: due, largestLog: largestLog)
            do {
                try await body(followed, path)
            } catch {
                try followed.close()
                throw error
            }
            try followed.close()
        }
    }

    private static func size(_ path: String) throws -> Int {
        try #require(try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int)
    }

    @Test func testThatTheWriterNeverCopiesTheLogByItself() async throws {
        try await withFollowed(due: .max / 8) { followed, path in
            // given
            let before = try Self.size(path)
            // when: more than the 1,000 pages after which SQLite would
            try await followed.write(300)
            // then
            #expect(try Self.size(path) == before)
            #expect(try Self.size(path + "-wal") > 1500 * 4096)
            #expect(followed.checkpointer.figures.checkpoints == 0)
        }
    }

    @Test func testThatTheLogIsCopiedBesideTheWriterAndUsedAgain() async throws {
        try await withFollowed { followed, path in
            // when: a checkpoint is let end before the next write
            for _ in 0..<300 {
                try await followed.write(1)
                followed.settle()
            }
            // then: all of it is in the file, and the log never had the 1,800 pages that were written
            #expect(try Self.size(path) > 1000 * 4096)
            #expect(try Self.size(path + "-wal") < 100 * 4096)
            let figures = followed.checkpointer.figures
            #expect(figures.checkpoints >= 100)
            #expect(figures.relieved == 0)
            #expect(figures.largest < 100)
        }
    }

    @Suite struct GivenAReaderThatDoesNotEnd {
        @Test func testThatNobodyWaitsForItAndTheLogIsBegunAnewWhenItEnds() async throws {
            try await CheckpointerTests().withFollowed(largestLog: 50) { followed, path in
                // given: it reads what only the log has
                try await followed.write(1)
                var configuration = Configuration()
                configuration.allowsUnsafeTransactions = true
                let reader = try DatabaseQueue(path: path, configuration: configuration)
                let count = try await reader.writeWithoutTransaction { db in
                    try db.beginTransaction(.deferred)
                    return try Int.fetchOne(db, sql: "SELECT count(*) FROM filling")
                }
                #expect(count == 1)
                // when: SQLite alone would let the writer wait five seconds for it, once and again
                var longest = Duration.zero
                for _ in 0..<20 {
                    longest = max(longest, try await ContinuousClock().measure { try await followed.write(1) })
                }
                followed.settle()
                // Nobody copies now, so the writer tries it itself, before the second of these.
                try await followed.write(2)
                // then
                #expect(longest < Store.busyTimeout)
                #expect(followed.checkpointer.figures.failed > 0)
                #expect(followed.checkpointer.figures.relieved == 0)
                #expect(followed.checkpointer.figures.pages > 100)
                // and: with the next commits after its end
                try await reader.writeWithoutTransaction { try $0.commit() }
                for _ in 0..<3 {
                    try await followed.write(1)
                    followed.settle()
                }
                #expect(followed.checkpointer.figures.pages < 50)
                try reader.close()
            }
        }
    }

    @Test func testThatTheWriterBeginsAnewALogThatGrewTooLong() async throws {
        try await withFollowed(due: .max / 8, largestLog: 50) { followed, path in
            // given: nobody copies it before it is too long
            // when
            try await followed.write(60)
            // then
            #expect(followed.checkpointer.figures.relieved > 5)
            #expect(followed.checkpointer.figures.largest < 60)
            #expect(try Self.size(path + "-wal") < 100 * 4096)
        }
    }

    @Test func testThatWhatIsCommittedIsThereAfterAKillBesideACheckpoint() async throws {
        try await withFollowed { followed, path in
            // given: checkpoints run while it is written
            try await followed.write(200)
            // when: the files as a crash would leave them
            followed.settle()
            for suffix in ["", "-wal"] {
                try FileManager.default.copyItem(atPath: path + suffix, toPath: path + "-copy" + suffix)
            }
            // then
            let copy = try DatabaseQueue(path: path + "-copy")
            let count = try await copy.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM filling") }
            let damage = try await copy.read { try String.fetchAll($0, sql: "PRAGMA integrity_check") }
            #expect(count == 200)
            #expect(damage == ["ok"])
            try copy.close()
        }
    }

    @Test func testThatAStoreIsFollowedAndClosesToOneFile() async throws {
        try await withStorePath { path in
            // given
            let store = try Store.open(path: path)
            // when
            try await store.createToken(name: "a", role: .viewer, hash: "1", at: time(1))
            // then
            #expect(store.checkpointFigures().pages > 0)
            let synchronous = try await store.lane.write("ask") {
                try Int.fetchOne($0.db, sql: "PRAGMA synchronous")
            }
            #expect(synchronous == 2)
            try store.close()
            #expect(!FileManager.default.fileExists(atPath: path + "-wal"))
        }
    }
}
