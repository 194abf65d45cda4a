import Dispatch
import Foundation
import GRDB
import Model
import Synchronization
import TestSupport
import Testing

@testable import Storage

@Suite struct WriterQueueTests {
    /// A counter of commits, and of the rows that the largest of them changed, by SQLite's commit hook.
    final class CommitCounter: TransactionObserver, Sendable {
        private struct Counts {
            var commits = 0
            var rows = 0
            var largest = 0
        }
        private let counts = Mutex(Counts())
        var commits: Int { counts.withLock { $0.commits } }
        var largest: Int { counts.withLock { $0.largest } }

        func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { true }
        func databaseDidChange(with event: DatabaseEvent) { counts.withLock { $0.rows += 1 } }
        func databaseDidCommit(_ db: Database) {
            counts.withLock {
                $0.commits += 1
                $0.largest = max($0.largest, $0.rows)
                $0.rows = 0
            }
        }
        func databaseDidRollback(_ db: Database) { counts.withLock { $0.rows = 0 } }
    }

    /// The results of several tasks.
    final class Collected<Value: Sendable>: Sendable {
        private let values = Mutex<[Value]>([])
        var all: [Value] { values.withLock { $0 } }
        func append(_ value: Value) { values.withLock { $0.append(value) } }
    }

    @Suite struct GivenAHundredWritesThatWait {
        /// Blocks the writer until every write waits, and then lets them run.
        private func write(
            _ fixture: StoreFixture, _ body: @escaping @Sendable (Int) async -> Void
        ) async {
            let gate = DispatchSemaphore(value: 0)
            let started = Collected<Int>()
            fixture.store.pool.asyncWriteWithoutTransaction { _ in gate.wait() }
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<100 {
                    group.addTask {
                        started.append(number)
                        await body(number)
                    }
                }
                while started.all.count < 100 { await Task.yield() }
                gate.signal()
            }
        }

        private func insert(_ number: Int, _ writer: WriterQueue) async {
            do {
                try await writer.write("write") { transaction in
                    try transaction.db.execute(
                        sql: "INSERT INTO tokens VALUES (?, 'viewer', ?, 1, NULL, NULL)",
                        arguments: ["t\(number)", "\(number)"])
                }
            } catch {
                Testing.Issue.record(error)
            }
        }

        @Test(.proves(.storage, "The writer's queue: waiting writes in one transaction, results in batches"))
        func testThatTheyNeedFarFewerCommitsAndAreAllDurable() async throws {
            try await withStore { fixture in
                // given: more time than 100 writes need on the slowest machine
                let writer = WriterQueue(
                    pool: fixture.store.pool, broadcast: ChangeBroadcast(), joiningTime: .seconds(60))
                let counter = CommitCounter()
                fixture.store.pool.add(transactionObserver: counter)

                // when
                await write(fixture) { await insert($0, writer) }

                // then: also in a copy of the files as a crash would leave them
                #expect(counter.commits <= 10)
                let copy = fixture.path + "-copy"
                for suffix in ["", "-wal"] {
                    try FileManager.default.copyItem(atPath: fixture.path + suffix, toPath: copy + suffix)
                }
                let store = try Store.open(path: copy)
                #expect(try await store.tokens().count == 100)
                try store.close()
            }
        }

        @Test func testThatNoneIsTakenInAfterTheJoiningTime() async throws {
            try await withStore { fixture in
                // given
                let writer = WriterQueue(pool: fixture.store.pool, broadcast: ChangeBroadcast(), joiningTime: .zero)
                let counter = CommitCounter()
                fixture.store.pool.add(transactionObserver: counter)

                // when
                await write(fixture) { await insert($0, writer) }

                // then
                #expect(counter.commits == 100)
                let tokens = try await fixture.store.tokens()
                #expect(tokens.count == 100)
            }
        }

        @Test func testThatOneThatFailsHindersNoOther() async throws {
            try await withStore { fixture in
                // when: every tenth takes a name that is in use
                try await fixture.store.createToken(name: "t0", role: .viewer, hash: "x", at: time(1))
                let failures = Collected<StoreError.Code>()
                await write(fixture) { number in
                    do throws(StoreError) {
                        try await fixture.store.createToken(
                            name: number.isMultiple(of: 10) ? "t0" : "t\(number)", role: .viewer, hash: "\(number)",
                            at: time(1))
                    } catch {
                        failures.append(error.code)
                    }
                }

                // then
                #expect(failures.all == Array(repeating: .exists, count: 10))
                #expect(try await fixture.store.tokens().count == 91)
            }
        }

        @Test func testThatOneThatRollsTheTransactionBackHindersNoOther() async throws {
            try await withStore { fixture in
                // given: a full disk could do this
                let failures = Collected<StoreError.Code>()

                // when
                await write(fixture) { number in
                    do throws(StoreError) {
                        try await fixture.store.writer.write("write") { transaction in
                            try transaction.db.execute(
                                sql: "INSERT INTO tokens VALUES (?, 'viewer', ?, 1, NULL, NULL)",
                                arguments: ["t\(number)", "\(number)"])
                            if number == 50 {
                                try transaction.db.execute(sql: "INSERT OR ROLLBACK INTO tokens SELECT * FROM tokens")
                            }
                        }
                    } catch {
                        failures.append(error.code)
                    }
                }

                // then
                #expect(failures.all == [.constraint])
                let names = try await fixture.store.tokens().map(\.name)
                #expect(names.count == 99)
                #expect(!names.contains("t50"))
            }
        }
    }

    @Test func testThatAFailedWriteStoresNothing() async throws {
        try await withStore { fixture in
            await expectFailure(.notFound) {
                try await fixture.store.writer.write("write") { transaction in
                    try transaction.db.execute(sql: "INSERT INTO tokens VALUES ('a', 'viewer', 'h', 1, NULL, NULL)")
                    throw Refusal.notFound("reason to keep it")
                }
            }
            let tokens = try await fixture.store.tokens()
            #expect(tokens == [])
        }
    }

    @Test func testThatACanceledTasksWriteIsMade() async throws {
        try await withStore { fixture in
            // when
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                try await fixture.store.createToken(name: "a", role: .viewer, hash: "h", at: time(1))
                return try await fixture.store.tokens().count
            }

            // then
            let count = try await task.value
            #expect(count == 1)
        }
    }

    @Test(.proves(.storage, "The writer's queue: waiting writes in one transaction, results in batches"))
    func testThatReadersDoNotWaitForTheWriter() async throws {
        try await withStore { fixture in
            // given
            let gate = DispatchSemaphore(value: 0)
            fixture.store.pool.asyncWriteWithoutTransaction { _ in gate.wait() }

            // when
            let bots = try await fixture.store.bots()

            // then
            gate.signal()
            #expect(bots.count == 1)
        }
    }

    @Suite struct GivenAFullDisk {
        @Test(.proves(.badInput, "A full disk loses no result"))
        func testThatItSaysSoStoresNothingAndGoesOnWhenSpaceReturns() async throws {
            try await withStore { fixture in
                // given
                let before = try await fixture.queue(1)
                try await fixture.store.writer.write("fill") { transaction in
                    let pages = try Int.fetchOne(transaction.db, sql: "PRAGMA page_count") ?? 0
                    _ = try Int.fetchOne(transaction.db, sql: "PRAGMA max_page_count = \(pages + 1)")
                }

                // when
                let claims = try (1...2000).map { RefClaim(ref: .main, before: nil, after: try commit($0)) }
                await expectFailure(.full, "free space") { try await fixture.push(claims, id: "d-1") }

                // then
                #expect(try await fixture.store.deliveries().items == [])
                #expect(try await fixture.store.integration(before.id) == before)
                #expect(try await fixture.damage() == [])

                // and
                try await fixture.store.writer.write("free") {
                    _ = try Int.fetchOne($0.db, sql: "PRAGMA max_page_count = 1000000")
                }
                guard case .stored = try await fixture.push(claims, id: "d-1") else {
                    Testing.Issue.record("the event was not stored")
                    return
                }
            }
        }
    }

    @Suite struct GivenTheChanges {
        @Test func testThatAChangeIsToldAfterItsCommit() async throws {
            try await withStore { fixture in
                // given
                var changes = fixture.store.changes().makeAsyncIterator()

                // when
                let id = try await fixture.queue().id

                // then
                #expect(await changes.next() == .queued(id))
            }
        }

        @Test func testThatARefusedWriteIsNotTold() async throws {
            try await withStore { fixture in
                // given
                let id = try await fixture.queue().id
                var changes = fixture.store.changes().makeAsyncIterator()

                // when
                await expectFailure(.illegalTransition) {
                    try await fixture.store.apply(.entered(.running), to: id, at: time(1))
                }
                let second = try await fixture.queue(2).id

                // then
                #expect(await changes.next() == .queued(second))
            }
        }

        @Test func testThatASlowListenerLosesTheOldest() async throws {
            try await withStore { fixture in
                // given
                let changes = fixture.store.changes()

                // when
                for number in 1...300 { _ = try await fixture.queue(number) }
                try fixture.store.close()

                // then
                var numbers: [Int] = []
                for await case .queued(let id) in changes { numbers.append(id.number) }
                #expect(numbers == Array(45...300))
            }
        }
    }

    /// The log of each one is to be compressed.
    @Test(.proves(.jobs, "Finished logs compressed, and read alike"))
    func testThatNoCompletionIsLostToASlowListener() async throws {
        try await withStore { fixture in
            // given
            let completions = fixture.store.completions()
            let ids = try (1...300).map { IntegrationID(bot: try name("kit"), number: $0) }

            // when
            for id in ids {
                fixture.store.tell(.integration(id))
                fixture.store.tell(.completed(id))
            }
            try fixture.store.close()

            // then
            var notified: [IntegrationID] = []
            for await id in completions { notified.append(id) }
            #expect(notified == ids)
        }
    }

    @Test(.proves(.testHistory, "Results are stored in batches that end by time, so that the writer is free soon"))
    func testThatABatchEndsWhereItsTimeDoes() {
        // given
        let items = Array(0..<250)
        var inserted: [Int] = []
        // when
        let whole = Store.insertBatch(items[100...], time: .seconds(60)) { inserted.append($0) }
        let cut = Store.insertBatch(items[200...], time: .zero) { inserted.append($0) }
        let rest = Store.insertBatch(items[201...], time: .seconds(60)) { inserted.append($0) }
        // then: at least one, and none twice
        #expect((whole, cut, rest) == (200, 201, 250))
        #expect(inserted == (100..<250).map { $0 })
    }

    @Test(.proves(.storage, "The writer's queue: waiting writes in one transaction, results in batches"))
    func testThatResultsComeInBatches() async throws {
        try await withStore { fixture in
            // given
            let counter = CommitCounter()
            fixture.store.pool.add(transactionObserver: counter)
            let attempt = try await fixture.store.addAttempt(to: fixture.queue().id, job: name("debug"), at: time(1)).id
            let tests = (1...1050).map { TestResult(suite: "Suite", name: "test\($0)", outcome: .passed) }

            // when
            try await fixture.store.storeResults(
                AttemptResults(tests: tests, analysis: "clean", tested: "1050 tests", verdict: .succeeded), of: attempt,
                at: time(2))

            // then
            #expect(counter.largest <= Store.batchSize)
            #expect(counter.commits >= 11)
        }
    }
}
