import GRDB
import Model
import TestSupport
import Testing

@testable import Storage

/// Integrations that are kept regardless of the limits, and the removal of others.
@Suite struct StoreRetentionTests {
    /// Stores an integration of a ref that ended at 100 s plus its number.
    @discardableResult
    private static func done(
        _ fixture: StoreFixture, _ ref: RefName = .main, _ verdict: Verdict = .succeeded, triggerFailed: Bool = false
    ) async throws -> IntegrationID {
        let id = try await fixture.queue(ref: ref).id
        return try await end(id, fixture, verdict, triggerFailed: triggerFailed)
    }

    @discardableResult
    private static func end(
        _ id: IntegrationID, _ fixture: StoreFixture, _ verdict: Verdict = .succeeded, triggerFailed: Bool = false
    ) async throws -> IntegrationID {
        if verdict != .canceled { try await fixture.store.apply(.started, to: id, at: time(20)) }
        try await fixture.store.apply(
            .completed(verdict, triggerFailed: triggerFailed), to: id, at: time(100 + Int64(id.number)))
        return id
    }

    /// Returns the reason why each integration is kept, by number; empty for one that the limits decide on.
    private static func holders(_ fixture: StoreFixture) async throws -> [Int: String] {
        let rows = try await fixture.store.retentionRows(of: name("kit"))
        #expect(rows.map(\.id.number) == rows.map(\.id.number).sorted(by: >))
        let removable = rows.filter { $0.holder == nil }
        // The list of kept ones must agree with the refusal to remove them.
        for row in rows where row.holder != nil {
            #expect(try await fixture.store.remove([(row, "of the test")], of: row.id.bot, at: time(500)) == [])
        }
        #expect(removable.allSatisfy { !$0.isOpen })
        return Dictionary(uniqueKeysWithValues: rows.map { ($0.id.number, $0.holder ?? "") })
    }

    @Suite(
        .proves(
            .releases,
            "Versions: the newest green integration of a branch, published and running ones are kept, and whatever else is in use (R5)"
        ))
    struct GivenBranches {
        @Test func testThatTheNewestAndTheNewestGreenOfABranchAreKept() async throws {
            try await withStore { fixture in
                // given: two branches that exist, and one that is gone
                let old = RefName(branch: "old")
                _ = try await fixture.scan([.main: commit(1), .line: commit(2), old: commit(3)], watchers: [])
                for verdict in [Verdict.succeeded, .warnings, .testFailures] { try await done(fixture, .main, verdict) }
                try await done(fixture, .main, .succeeded, triggerFailed: true)
                for verdict in [Verdict.succeeded, .buildErrors, .canceled] { try await done(fixture, .line, verdict) }
                try await done(fixture, old)
                try await done(fixture, .main, .internalError)
                _ = try await fixture.scan([.main: commit(1), .line: commit(2)], watchers: [])
                // when, then
                expectHolders(
                    try await holders(fixture),
                    [
                        1: "", 2: "the newest green one of main", 3: "", 4: "the next of main is compared with it",
                        5: "the newest green one of release/1.4", 6: "the next of release/1.4 is compared with it",
                        7: "the newest of release/1.4", 8: "", 9: "the newest of the bot",
                    ])
            }
        }

        @Test func testThatPushesWhichNobodyJudgedAreKeptUntilOneIs() async throws {
            try await withStore { fixture in
                // given
                try await fixture.scan([.main: commit(1)])
                try await end(IntegrationID(bot: name("kit"), number: 1), fixture)
                for number in 2...4 {
                    try await fixture.scan([.main: commit(number)])
                    try await end(IntegrationID(bot: name("kit"), number: number), fixture, .canceled)
                }
                try await done(fixture, .line)
                // when, then
                let kept = try await holders(fixture)
                #expect(kept[2] == "main was not judged since")
                #expect(kept[3] == "main was not judged since")
                #expect(kept[1] == "the newest green one of main")
                // It holds once the next one is
                try await fixture.scan([.main: commit(5)])
                try await end(IntegrationID(bot: name("kit"), number: 6), fixture)
                let later = try await StoreRetentionTests.holders(fixture)
                #expect(later.filter { $0.value.isEmpty }.keys.sorted() == [1, 2, 3, 4, 5])
            }
        }

        @Test func testThatABranchsPushOfNowStaysJudged() async throws {
            try await withStore { fixture in
                // given: a user had it integrated again
                try await fixture.scan([.main: commit(1)])
                try await end(IntegrationID(bot: name("kit"), number: 1), fixture)
                try await done(fixture)
                try await done(fixture, .line)
                // when, then
                #expect(try await holders(fixture)[1] == "main stands at its push")
            }
        }
    }

    @Suite(
        .proves(
            .releases,
            "Versions: the newest green integration of a branch, published and running ones are kept, and whatever else is in use (R5)"
        ))
    struct GivenAnIntegrationInUse {
        /// Runs a test with an integration that only the limits decide on, and a newer one.
        private func withOld(_ body: (StoreFixture, RetentionRow) async throws -> Void) async throws {
            try await withStore { fixture in
                _ = try await fixture.scan([.main: commit(1)], watchers: [])
                try await done(fixture)
                try await done(fixture)
                let row = try #require(try await fixture.store.retentionRows(of: name("kit")).last)
                #expect(row.holder == nil)
                try await body(fixture, row)
            }
        }

        private func expectKept(
            _ row: RetentionRow, _ fixture: StoreFixture, _ reason: String,
            sourceLocation: SourceLocation = #_sourceLocation
        ) async throws {
            // it is judged before it is taken up: there is no reason to keep it
            #expect(
                try await fixture.store.remove([(row, "of the test")], of: row.id.bot, at: time(500)) == [],
                sourceLocation: sourceLocation)
            let now = try await fixture.store.retentionRows(of: row.id.bot).last
            #expect(now?.holder == reason, sourceLocation: sourceLocation)
            #expect(try await fixture.store.removal(of: row.id) == nil, sourceLocation: sourceLocation)
        }

        @Test func testR5ThatWhatAVersionWasMadeByIsKept() async throws {
            try await withOld { fixture, row in
                let publisher = StoreVersionsTests.Publisher(fixture: fixture)
                // it is only reserved, as in the middle of publishing
                _ = try await publisher.ask(1, integration: 1)
                try await expectKept(row, fixture, "it made kit 1.4.0")
                try await publisher.publish("1.4.0")
                try await expectKept(row, fixture, "it made kit 1.4.0")
            }
        }

        @Test func testR5ThatOneThatIsRunAgainIsKept() async throws {
            try await withOld { fixture, row in
                _ = try await fixture.store.reopen(row.id, for: NewRerun(requestedBy: "ann", jobs: []), at: time(300))
                try await expectKept(row, fixture, "it is queued")
                _ = try await fixture.store.apply(.started, to: row.id, at: time(301))
                try await expectKept(row, fixture, "it is running")
                // one that has run again since it was judged is different
                try await fixture.store.apply(.completed(.succeeded, triggerFailed: false), to: row.id, at: time(302))
                #expect(try await fixture.store.remove([(row, "old")], of: row.id.bot, at: time(500)) == [])
            }
        }

        @Test func testR5ThatOneWhoseTriggerRunsIsKept() async throws {
            try await withOld { fixture, row in
                try await fixture.store.recordTrigger(
                    TriggerRecord(
                        integration: row.id, trigger: try name("office"), attempt: 1, phase: .after, state: .running,
                        startedAt: time(300)))
                try await expectKept(row, fixture, "a trigger of it has not ended")
            }
        }

        @Test func testThatOneOfWhichAMessageWaitsIsKept() async throws {
            try await withOld { fixture, row in
                try await fixture.store.writer.write("insert") { transaction in
                    try transaction.db.execute(
                        sql: """
                            INSERT INTO outbox (kind, destination, account, subject, is_first, bot, number, content, state,
                                next_at, created_at) VALUES ('status', 'd', '', 's', 1, 'kit', 1, '{}', 'waiting', 1, 1)
                            """)
                }
                try await expectKept(row, fixture, "a message about it waits to be sent")
            }
        }

        @Test func testThatWhatARunningOneIsComparedWithIsKept() async throws {
            try await withStore { fixture in
                _ = try await fixture.scan([.main: commit(1)], watchers: [])
                for _ in 1...3 { try await done(fixture) }
                let second = IntegrationID(bot: try name("kit"), number: 2)
                _ = try await fixture.store.reopen(second, for: NewRerun(requestedBy: "ann", jobs: []), at: time(300))
                #expect(try await holders(fixture)[1] == "kit#2 is compared with it")
            }
        }
    }

    @Suite(
        .proves(
            .releases,
            "Versions: Retention removes rows, files and held commit together; a kill leaves nothing half visible, and the next start finishes"
        ))
    struct GivenOneToRemove {
        private func removed(_ fixture: StoreFixture) async throws -> RetentionRow {
            _ = try await StoreRerunsTests.done(fixture)
            let attempt = try await fixture.store.addAttempt(
                to: fixture.queue().id, job: name("debug"), at: time(20)
            ).id
            try await fixture.store.record(
                step: StepRecord(index: 0, step: .building, name: "build", startedAt: time(20)), of: attempt)
            try await fixture.store.storeResults(StoreResultsTests.results(250), of: attempt, at: time(30))
            try await end(attempt.integration, fixture, .testFailures)
            try await done(fixture)
            let rows = try await fixture.store.retentionRows(of: name("kit"))
            let row = try #require(rows.first { $0.id == attempt.integration })
            #expect(
                try await fixture.store.remove([(row, "older than 90d")], of: row.id.bot, at: time(700)) == [row.id])
            return row
        }

        @Test func testThatItIsShownNowhereFromThenOn() async throws {
            try await withStore { fixture in
                // when
                let row = try await removed(fixture)
                // then: its rows exist, and are not shown
                let store = fixture.store
                #expect(try await store.integration(row.id) == nil)
                #expect(try await store.integrations().items.map(\.id.number) == [3, 1])
                #expect(try await store.retentionRows(of: row.id.bot).map(\.id.number) == [3, 1])
                #expect(try await store.removal(of: row.id) == Removal(at: time(700), reason: "older than 90d"))
                #expect(
                    try await store.previous(of: IntegrationID(bot: row.id.bot, number: 3))?.id.number == 1)
                #expect(
                    try await store.testHistory(of: "Suite/test0", bot: row.id.bot)?.entries.isEmpty == true)
                #expect(try await store.lastFailures(of: "Suite/test0", bot: row.id.bot).isEmpty)
                #expect(try await store.flakyTests(of: row.id.bot).integrations == 1)
                await expectFailure(.notFound) {
                    try await store.reopen(row.id, for: NewRerun(requestedBy: "ann", jobs: []), at: time(800))
                }
            }
        }

        @Test func testThatItsRowsGoAndItsNumberIsNeverUsedAgain() async throws {
            try await withStore { fixture in
                // given
                let row = try await removed(fixture)
                let store = fixture.store
                let left = try #require(try await store.removedIntegrations().first)
                #expect(left.id == row.id && left.repository == StoreFixture.repository)
                // when
                try await store.deleteRows(of: left)
                // then
                let counts = try await store.read("count") { db in
                    try ["integrations", "attempts", "findings", "test_rows", "test_records", "steps", "artifacts"].map
                    {
                        try Int.fetchOne(db, sql: "SELECT count(*) FROM \($0)") ?? -1
                    }
                }
                // integrations 1 and 3, two attempts of 1 with a test each
                #expect(counts == [2, 2, 0, 2, 2, 0, 0])
                #expect(try await store.removedIntegrations().isEmpty)
                #expect(try await fixture.damage().isEmpty)
                #expect(try await store.removal(of: row.id) != nil)
                #expect(try await fixture.queue().id.number == 4)
                // again, as after a stop
                try await store.deleteRows(of: left)
            }
        }

        @Test func testThatOneWhichIsThereLosesNoRow() async throws {
            try await withStore { fixture in
                let id = try await StoreRerunsTests.done(fixture)
                let row = RemovedIntegration(id: id.id, rowID: id.rowID, repository: "")
                try await fixture.store.deleteRows(of: row)
                #expect(try await fixture.store.attempts(of: id.id).count == 2)
            }
        }
    }

    /// Its file names another repository since a moment ago, which could not be looked at.
    @Test func testThatABranchOfARepositoryThatWasNeverScannedCountsAsThere() async throws {
        try await withStore { fixture in
            // given: two of main, and one of another branch
            for (number, ref) in [(1, RefName.main), (2, .line), (3, .main)] {
                let id = try await fixture.queue(number, ref: ref).id
                try await fixture.store.apply(.completed(.canceled, triggerFailed: false), to: id, at: time(20))
            }
            // when
            let holders = try await fixture.store.retentionRows(of: name("kit")).map(\.holder)
            // then
            #expect(holders.map { $0 != nil } == [true, true, false])
            // when: a scan finds the branches gone
            try await fixture.scan([RefName(branch: "other"): commit(9)], watchers: [])
            // then
            let after = try await fixture.store.retentionRows(of: name("kit")).map(\.holder)
            #expect(after.map { $0 != nil } == [true, false, false])
        }
    }

    @Test func testThatABotWithoutIntegrationsHasNone() async throws {
        try await withStore { fixture in
            for bot in [try name("kit"), try name("other")] {
                let rows = try await fixture.store.retentionRows(of: bot)
                #expect(rows.isEmpty)
            }
        }
    }

    @Suite(.proves(.releases, "Versions: a clock that jumps prunes nothing early (C1)"))
    struct GivenAClock {
        /// The first round may be the one with the wrong clock.
        @Test func testC1ThatTheFirstTimeGoesOnFromTheNewestIntegration() async throws {
            try await withStore { fixture in
                // given: one that was queued at 10 s
                _ = try await fixture.queue()
                // when
                let seen = try await fixture.store.advanceRetentionClock(to: time(32_000_000), atMost: .zero)
                let next = try await fixture.store.advanceRetentionClock(to: time(32_000_000), atMost: .seconds(7200))
                // then
                #expect(seen == time(10) && next == time(7210))
            }
        }

        @Test func testC1ThatAgesAreCountedOnByNoMoreThanAStep() async throws {
            try await withStore { fixture in
                // a usual hour; a year ahead, twice; corrected, and back by an hour
                let clock: [Int64] = [1_000_000, 1_003_600, 32_000_000, 32_003_600, 1_014_400, 1_010_800]
                // when
                var counted: [Int64] = []
                for now in clock {
                    let reached = try await fixture.store.advanceRetentionClock(to: time(now), atMost: .seconds(7200))
                    counted.append(reached.millisecondsSinceEpoch / 1000)
                }
                // then
                #expect(counted == [1_000_000, 1_003_600, 1_010_800, 1_018_000, 1_014_400, 1_010_800])
            }
        }
    }
}

private func expectHolders(
    _ found: [Int: String], _ expected: [Int: String], sourceLocation: SourceLocation = #_sourceLocation
) {
    for number in Set(found.keys).union(expected.keys).sorted() {
        #expect(found[number] == expected[number], "kit#\(number)", sourceLocation: sourceLocation)
    }
}
