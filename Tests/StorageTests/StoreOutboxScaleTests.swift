import GRDB
import Model
import TestSupport
import Testing

@testable import Storage

/// The outbox with very many messages, and with ones that cannot be read.
@Suite struct StoreOutboxScaleTests {
    private static let api = StoreOutboxTests.target.api
    private static let place = StoreOutboxTests.place

    private static func withReports(
        _ targets: [StatusTarget] = [StoreOutboxTests.target], _ body: (StoreFixture) async throws -> Void
    ) async throws {
        try await withStore(targets.indices.map { "bot\($0)" } + ["kit"]) { fixture in
            try await fixture.store.register(
                try targets.enumerated().map { number, target in
                    BotSpecification(
                        name: try name(number == 0 ? "kit" : "bot\(number)"), repository: StoreFixture.repository,
                        status: target)
                }, at: time(1))
            try await body(fixture)
        }
    }

    private static func take(_ fixture: StoreFixture, at seconds: Int64 = 1000) async throws -> OutboxMessage? {
        try await fixture.store.takeMessage(for: place, at: time(seconds), horizon: .seconds(3600))
    }

    /// No time is measured. A search by an index in its order costs the same with ten messages and with ten thousand.
    @Test(
        .proves(
            .intake,
            "No statement of the outbox's way reads all messages; one that fails, or cannot be read, holds up no other"),
        arguments: [
            ("take", Store.dueQuery), ("take a stray one", Store.strayQuery), ("places", Store.placesQuery),
            ("newer", Store.newerQuery), ("settle", Store.settlement), ("recover", Store.recovery),
            ("overdue", Store.overdueQuery), ("expire", Store.expiry), ("overflow", Store.overflowQuery),
            ("supersede", Store.supersede),
            ("insert", Store.insertion),
        ])
    func testThatNoStatementReadsAllMessages(_ what: String, _ sql: String) async throws {
        try await withStore { fixture in
            let plan = try await fixture.store.writer.write("explain") { transaction in
                let statement = try transaction.db.makeStatement(sql: "EXPLAIN QUERY PLAN " + sql)
                statement.setUncheckedArguments([])
                return try Row.fetchAll(statement).map { $0["detail"] as String }
            }
            #expect(!plan.isEmpty)
            // The first one in an index's order; the messages that are being sent, which are few.
            let few = ["SCAN outbox USING INDEX outbox_due", "SCAN outbox USING INDEX outbox_sending"]
            for line in plan {
                #expect(!line.hasPrefix("SCAN outbox") || few.contains(line), "\(what): \(plan)")
                #expect(!line.contains("TEMP B-TREE"), "\(what): \(plan)")
            }
        }
    }

    @Test(
        .proves(
            .intake,
            "A message refused for its token (401, 403) waits for another; each account of a forge pauses by itself; a series of failures is the destination's"
        ))
    func testThatEachAccountOfAForgeIsAPlaceOfItsOwn() async throws {
        var other = StoreOutboxTests.target
        other.credentials = "other"
        try await Self.withReports([StoreOutboxTests.target, other]) { fixture in
            _ = try await fixture.queue()
            _ = try await fixture.store.queue(
                NewIntegration(
                    bot: try name("bot1"), ref: RefName(branch: "main"), commit: commit(1), cause: .person),
                at: time(20))
            #expect(
                try await fixture.store.outboxPlaces() == [
                    Self.place: time(10), OutboxPlace(kind: .status, name: Self.api, account: "other"): time(20),
                ])
        }
    }

    @Test(
        .proves(
            .intake,
            "No statement of the outbox's way reads all messages; one that fails, or cannot be read, holds up no other")
    )
    func testThatOneThatFailedGoesAfterThoseThatAreDueLonger() async throws {
        try await Self.withReports { fixture in
            for number in 1...2 { _ = try await fixture.queue(number) }
            let first = try #require(try await Self.take(fixture))
            try await fixture.store.settle(
                first, as: .again(at: time(900), reason: "no answer", isUncertain: true), at: time(20))
            #expect(try await Self.take(fixture)?.integration?.number == 2)
            let again = try #require(try await Self.take(fixture))
            #expect(again.integration?.number == 1 && again.failedAt == time(20))
        }
    }

    @Test func testThatGitLabShowsACommitOnEachOfItsBranches() async throws {
        let gitlab = StatusTarget(
            forge: .gitlab, credentials: StoreOutboxTests.target.credentials, api: Self.api, project: "acme/kit")
        for (target, isByRef) in [(gitlab, true), (StoreOutboxTests.target, false)] {
            try await Self.withReports([target]) { fixture in
                _ = try await fixture.queue()
                _ = try await fixture.queue(ref: RefName(branch: "release/1"))
                let states = try await fixture.store.outbox().items.reversed().map(\.state)
                #expect(states == [isByRef ? .waiting : .superseded, .waiting])
            }
        }
    }

    @Test func testThatWhatMayHaveArrivedStaysSoWhenItIsGivenUpAndTriedAgain() async throws {
        try await Self.withReports { fixture in
            _ = try await fixture.queue()
            let first = try #require(try await Self.take(fixture))
            try await fixture.store.settle(
                first, as: .again(at: time(20), reason: "timed out", isUncertain: true), at: time(20))
            let second = try #require(try await Self.take(fixture))
            try await fixture.store.settle(second, as: .givenUp(reason: "refused"), at: time(30))
            let retried = try await fixture.store.retryMessage(first.id, at: time(40))
            #expect(retried.failedAt == nil)
            #expect(try await Self.take(fixture)?.isUncertain == true)
        }
    }

    @Test(
        .proves(
            .intake,
            "No statement of the outbox's way reads all messages; one that fails, or cannot be read, holds up no other")
    )
    func testThatOneThatCannotBeReadIsGivenUpAndTheNextIsTaken() async throws {
        try await Self.withReports { fixture in
            for number in 1...2 { _ = try await fixture.queue(number) }
            try await fixture.store.writer.write("damage") { transaction in
                try transaction.db.execute(sql: "UPDATE outbox SET content = '{' WHERE id = 1")
            }
            // when
            await expectFailure(.corrupt, "message 1 cannot be read, and is given up") {
                _ = try await Self.take(fixture)
            }
            // then
            #expect(try await Self.take(fixture)?.integration?.number == 2)
            #expect(try await fixture.store.outbox().items.map(\.integration?.number) == [2])
            #expect(try await fixture.store.outboxCounts() == [.givenUp: 1, .sending: 1])
        }
    }

    @Test(
        .proves(
            .intake,
            "Messages are retried with backoff and jitter, and `Retry-After` is honored up to 6 h. A refused one is given up with its reason, others after a day and at least 5 failures"
        ))
    func testThatWhatWaitsTooLongIsGivenUpInBatchesAndTheRestStays() async throws {
        try await Self.withReports { fixture in
            // given: more than a batch, of which the first was tried
            for number in 1...100 { _ = try await fixture.queue(number) }
            let first = try #require(try await Self.take(fixture))
            try await fixture.store.settle(
                first, as: .again(at: time(11), reason: "no answer", isUncertain: false), at: time(11))
            try await fixture.store.writer.write("later") { transaction in
                try transaction.db.execute(sql: "UPDATE outbox SET created_at = 20000 WHERE id > 95")
            }
            // when
            let count = try await fixture.store.expireMessages(
                for: Self.place, storedBefore: time(15), reason: "too long", at: time(30))
            // then
            #expect(count == 95)
            let messages = Array(try await fixture.store.outbox(limit: 200).items.reversed())
            #expect(
                messages.map(\.state) == Array(repeating: .givenUp, count: 95) + Array(repeating: .waiting, count: 5))
            #expect(messages[0].note == "too long; the last: no answer")
            #expect(messages[1].note == "too long; it was never tried")
        }
    }
}
