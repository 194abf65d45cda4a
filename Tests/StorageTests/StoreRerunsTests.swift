import Model
import TestSupport
import Testing

@testable import Storage

@Suite struct StoreRerunsTests {
    /// Returns an integration that has ended with test-failures, with two jobs.
    static func done(_ fixture: StoreFixture) async throws -> IntegrationRecord {
        let id = try await fixture.queue().id
        try await fixture.store.apply(.started, to: id, at: time(11))
        for job in ["debug", "release"] {
            let attempt = try await fixture.store.addAttempt(to: id, job: name(job), at: time(12))
            try await fixture.store.storeResults(
                AttemptResults(
                    tests: [TestResult(suite: "Kit", name: job, outcome: .failed)], analysis: "clean",
                    tested: "1 test", verdict: .testFailures), of: attempt.id, at: time(13))
        }
        return try await fixture.store.apply(
            .completed(.testFailures, triggerFailed: true), to: id, at: time(14), reason: "1 of 1 tests failed")
    }

    @Test func testThatItQueuesAnAttemptForEachJobThatRunsAgain() async throws {
        try await withStore { fixture in
            // given
            let before = try await Self.done(fixture)

            // when
            let rerun = NewRerun(
                requestedBy: "ann", isFailedOnly: true, testFilter: "Kit/a", jobs: [try name("release")])
            let record = try await fixture.store.reopen(before.id, for: rerun, at: time(20))

            // then
            #expect(record.state == .queued)
            #expect(record.run == 2)
            #expect([record.startedAt, record.endedAt] == [nil, nil])
            #expect(record.reason == nil)
            #expect(try await fixture.store.integration(before.id) == record)
            let queued = try await fixture.store.queued()
            #expect(queued.map(\.run) == [2])
            let added = try #require(try await fixture.store.attempts(of: before.id).last)
            #expect(added.id.description == "kit#1/release/2")
            #expect(added.testFilter == "Kit/a")
            #expect(added.run == 2)
            let stored = RerunRecord(
                run: 2, requestedBy: "ann", requestedAt: time(20), isFailedOnly: true, testFilter: "Kit/a")
            #expect(try await fixture.store.reruns(of: before.id) == [stored])
            // The earlier results are shown until the new attempt is processed
            #expect(try await fixture.store.tests(of: before.id).map(\.result.name) == ["debug", "release"])
        }
    }

    @Test func testThatAnEarlierAttemptsTestsCanBeAskedFor() async throws {
        try await withStore { fixture in
            // given
            let id = try await Self.done(fixture).id
            _ = try await fixture.store.reopen(
                id, for: NewRerun(requestedBy: "ann", jobs: [name("debug")]), at: time(20))
            let second = try #require(try await fixture.store.attempts(of: id).last)
            try await fixture.store.storeResults(
                AttemptResults(
                    tests: [TestResult(suite: "Kit", name: "again", outcome: .passed)],
                    artifacts: [Artifact(configuration: nil, path: "a", size: ByteCount(1), sha256: "ab")],
                    analysis: "clean", tested: "1 test", verdict: .succeeded), of: second.id, at: time(21))

            // then
            let store = fixture.store
            #expect(try await store.tests(of: id).map(\.result.name) == ["release", "again"])
            #expect(try await store.tests(of: id, attempt: 1).map(\.result.name) == ["debug", "release"])
            #expect(try await store.tests(of: id, attempt: 2).map(\.result.name) == ["again"])
            #expect(try await store.tests(of: id, attempt: 3) == [])
            #expect(try await store.artifacts(of: id).map(\.attempt.attempt) == [2])
            #expect(try await store.artifacts(of: id, attempt: 1) == [])
        }
    }

    @Test func testThatOneThatIsNotCompletedIsRefusedAndUnchanged() async throws {
        try await withStore { fixture in
            let before = try await fixture.queue()
            await expectFailure(.illegalTransition) {
                try await fixture.store.reopen(before.id, for: NewRerun(requestedBy: "ann", jobs: []), at: time(20))
            }
            #expect(try await fixture.store.integration(before.id) == before)
        }
    }

    @Test func testThatTakingBackRestoresWhatWas() async throws {
        try await withStore { fixture in
            // given
            let before = try await Self.done(fixture)
            let attempts = try await fixture.store.attempts(of: before.id)
            let rerun = NewRerun(requestedBy: "ann", jobs: [try name("debug")])
            _ = try await fixture.store.reopen(before.id, for: rerun, at: time(20))

            // when
            let record = try await fixture.store.takeBackRerun(of: before.id, at: time(500))

            // then
            #expect(record == before)
            #expect(try await fixture.store.integration(before.id) == before)
            #expect(try await fixture.store.attempts(of: before.id) == attempts)
            #expect(try await fixture.store.reruns(of: before.id) == [])
            await expectFailure(.illegalTransition) {
                try await fixture.store.takeBackRerun(of: before.id, at: time(500))
            }
        }
    }

    @Test(.proves(.programs, "`rerun`: further attempts of one integration, the newest counts"))
    func testThatTakingBackRestoresWhatSupersededIt() async throws {
        try await withStore { fixture in
            // given
            let watchers = [try fixture.watcher(supersede: .queued)]
            for number in 1...2 { try await fixture.scan([.main: commit(number)], watchers: watchers) }
            let id = IntegrationID(bot: try name("kit"), number: 1)
            let before = try #require(try await fixture.store.integration(id))
            #expect(before.supersededBy?.number == 2)
            let reopened = try await fixture.store.reopen(
                id, for: NewRerun(requestedBy: "ann", jobs: []), at: time(200))
            #expect(reopened.supersededBy == nil)

            // when
            let record = try await fixture.store.takeBackRerun(of: id, at: time(500))

            // then
            #expect(record == before)
            #expect(try await fixture.store.integration(id) == before)
        }
    }

    @Test func testThatOneThatHasBegunIsNotTakenBack() async throws {
        try await withStore { fixture in
            let id = try await Self.done(fixture).id
            _ = try await fixture.store.reopen(id, for: NewRerun(requestedBy: "ann", jobs: []), at: time(20))
            let bot = BotSpecification(
                name: try name("kit"), repository: StoreFixture.repository, product: try name("p"))
            let begun = try #require(try await fixture.store.takeUp(id, as: bot, at: time(21)))
            #expect(begun.integration.state == .running(.preparing))
            #expect(begun.specification == bot)
            #expect(try await fixture.store.specification(of: id) == bot)
            await expectFailure(.illegalTransition) { try await fixture.store.takeBackRerun(of: id, at: time(500)) }
        }
    }

    @Test func testThatWhatThereIsToDoIsCounted() async throws {
        try await withStore(["kit", "lint"]) { fixture in
            let ids = [try await fixture.queue(1).id, try await fixture.queue(2).id, try await fixture.queue(3).id]
            try await fixture.store.apply(.started, to: ids[0], at: time(11))
            #expect(try await fixture.store.openCounts() == OpenCounts(bots: 2, queued: 2, running: 1))
        }
    }
}
