import Model
import TestSupport
import Testing

@testable import Storage

/// The queries between a request and a job's first command.
@Suite struct StoreQueueTests {
    @Test(.proves(.storage, "The scheduler reads of a queue, however long, the oldest of each ref and cause"))
    func testThatTheHeadsAreTheOldestOfEachRef() async throws {
        try await withStore { fixture in
            // given
            let first = try await fixture.queue(1).id
            _ = try await fixture.queue(2)
            let other = try await fixture.queue(3, ref: .line).id

            // when, then
            #expect(try await fixture.store.heads().map(\.id) == [first, other])
            _ = try await fixture.store.takeUp(first, as: nil, at: time(20))
            #expect(try await fixture.store.heads().map(\.id.number) == [2, 3])
        }
    }

    /// A user's request precedes the schedule's, whenever it was queued.
    @Test(.proves(.storage, "The scheduler reads of a queue, however long, the oldest of each ref and cause"))
    func testThatEachCauseAndARerunHasAHeadOfItsOwn() async throws {
        try await withStore { fixture in
            // given
            let store = fixture.store
            let old = try await fixture.queue(1).id
            _ = try await store.takeUp(old, as: nil, at: time(11))
            try await store.apply(.completed(.succeeded, triggerFailed: false), to: old, at: time(12))
            let scheduled = try await store.queue(
                NewIntegration(bot: name("kit"), ref: .main, commit: commit(2), cause: .schedule), at: time(13)
            ).id
            let requested = try await fixture.queue(3).id

            // when
            _ = try await store.reopen(old, for: NewRerun(requestedBy: "ann", jobs: []), at: time(14))

            // then
            #expect(try await store.heads().map(\.id) == [old, scheduled, requested])
        }
    }

    /// Otherwise the scheduler would choose by the earlier cause.
    @Test(.proves(.storage, "The scheduler reads of a queue, however long, the oldest of each ref and cause"))
    func testThatAHeadThatBecomesAnUpgradeIsReadAgain() async throws {
        try await withStore { fixture in
            // given: the tip of a branch that waits
            let store = fixture.store
            _ = try await fixture.scan([.main: commit(1)], watchers: [])
            _ = try await store.queue(
                NewIntegration(bot: name("kit"), ref: .main, commit: commit(1), cause: .push), at: time(10))
            #expect(try await store.heads().map(\.cause) == [.push])

            // when
            let tip = NewIntegration(bot: try name("kit"), ref: .main, commit: try commit(1), cause: .upgrade)
            let queued = try await store.takeUp(
                ToolchainMark(bot: name("kit"), version: "6.3.1"), queueing: [tip], at: time(120)
            ) {
                NewEvent(
                    repository: $0.repository, bot: $0.id.bot, source: .upgrade, hook: "upgrade", event: "integrate",
                    receivedAt: time(120), claims: [], outcome: .integrated)
            }

            // then
            let heads = try await store.heads()
            #expect(heads.map(\.cause) == [.upgrade])
            #expect(heads.map(\.id) == queued.map(\.id))
        }
    }

    @Test(
        .proves(
            .storage,
            "The start of an integration takes few transactions: the recipe with the first attempts, an attempt's few results, its few issues with its end"
        ))
    func testThatBeginningStartsWhatWaitsAndNothingElse() async throws {
        try await withStore { fixture in
            // given
            let store = fixture.store
            let id = try await fixture.queue().id
            var now = BotSpecification(name: try name("kit"), repository: StoreFixture.repository)
            now.product = try name("now")
            var later = now
            later.product = try name("later")

            // when, then
            #expect(try await store.takeUp(id, as: now, at: time(20))?.integration.state == .running(.preparing))
            try await store.apply(.entered(.afterTriggers), to: id, at: time(21))
            let again = try #require(try await store.takeUp(id, as: later, at: time(22)))
            #expect(again.integration.state == .running(.afterTriggers))
            #expect(again.integration.startedAt == time(20))
            #expect(again.specification == now)
            try await store.apply(.completed(.succeeded, triggerFailed: false), to: id, at: time(23))
            #expect(try await store.takeUp(id, as: later, at: time(24)) == nil)
        }
    }

    @Test(arguments: [true, false])
    func testThatWhatWasReadBeforehandBeginsWithItUnlessItRunsAsSomethingElse(isKnown: Bool) async throws {
        try await withStore { fixture in
            // given
            let store = fixture.store
            let id = try await fixture.queue().id
            let bot = BotSpecification(name: try name("kit"), repository: StoreFixture.repository)
            let recipe = Recipe(configurations: [.init(name: try name("debug"))])
            let summary = CommitSummary(subject: "Begin", author: "Ann", committedAt: time(1), tree: "t")
            let preparation = Store.Preparation(recipe: recipe, commit: summary, step: .running)

            // when
            let begun = try #require(
                try await store.takeUp(id, as: isKnown ? bot : nil, with: preparation, at: time(20)))
            let again = try #require(try await store.takeUp(id, as: bot, with: preparation, at: time(21)))

            // then
            #expect(begun.integration.state == .running(isKnown ? .running : .preparing))
            #expect(begun.integration.recipe == (isKnown ? recipe : nil))
            #expect(again.integration == begun.integration)
            #expect(try await store.attempts(of: id).count == (isKnown ? 1 : 0))
        }
    }

    @Test func testThatABotWhoseFileIsGoneIsWhatItWasLast() async throws {
        try await withStore { fixture in
            // given
            let id = try await fixture.queue().id

            // when
            let begun = try #require(try await fixture.store.takeUp(id, as: nil, at: time(20)))

            // then
            #expect(begun.specification?.name == id.bot)
            #expect(begun.integration.state == .running(.preparing))
        }
    }

    @Test func testThatWhatCausedItIsRecordedWithIt() async throws {
        try await withStore { fixture in
            // when
            let new = NewIntegration(bot: try name("kit"), ref: .main, commit: try commit(1), cause: .person)
            let record = try await fixture.store.queue(new, at: time(10)) { record in
                NewEvent(
                    repository: record.repository, bot: record.id.bot, source: .person, hook: "person",
                    event: "integrate", receivedAt: record.queuedAt, claims: [], outcome: .integrated,
                    reason: "\(record.id)")
            }

            // then
            #expect(try await fixture.store.deliveries().items.map(\.reason) == [record.id.description])
        }
    }

    @Test(.proves(.programs, "`rerun`: further attempts of one integration, the newest counts"))
    func testThatARerunIsQueuedWithWhatCausedItOrNotAtAll() async throws {
        try await withStore { fixture in
            // given
            let store = fixture.store
            let id = try await fixture.queue().id
            try await store.apply(.completed(.succeeded, triggerFailed: false), to: id, at: time(11))
            let before = try #require(try await store.integration(id))
            func reopen(hook: String) async throws(StoreError) -> IntegrationRecord {
                try await store.reopen(id, for: NewRerun(requestedBy: "ann", jobs: []), at: time(12)) { record in
                    NewEvent(
                        repository: record.repository, bot: record.id.bot, source: .person, hook: hook, event: "rerun",
                        receivedAt: time(12), claims: [], outcome: .integrated, reason: "run \(record.run)")
                }
            }

            // when, then: a cause that cannot be stored does not run
            let long = String(repeating: "x", count: NewEvent.maximumNameBytes + 1)
            await expectFailure(.tooLarge) { try await reopen(hook: long) }
            #expect(try await store.integration(id) == before)
            #expect(try await store.reruns(of: id) == [])

            // when, then
            _ = try await reopen(hook: "person")
            #expect(try await store.deliveries().items.map(\.reason) == ["run 2"])
        }
    }

    @Test(
        .proves(
            .intake,
            "`cancel` with grace, in every state: queued, preparing, before-triggers, running, after-triggers, uploading"
        ))
    func testThatOnlyWhatWaitsIsCanceledInTheQueue() async throws {
        try await withStore { fixture in
            // given
            let store = fixture.store
            let (waits, runs) = (try await fixture.queue(1).id, try await fixture.queue(2).id)
            let begun = try #require(try await store.takeUp(runs, as: nil, at: time(20))?.integration)

            // when
            try await store.cancel(queued: waits, at: time(21), reason: "canceled by ann")

            // then
            let record = try #require(try await store.integration(waits))
            #expect(record.state == .completed(.canceled, triggerFailed: false))
            #expect(record.reason == "canceled by ann")
            for id in [waits, runs] {
                await expectFailure(.illegalTransition, "nothing was stored") {
                    try await store.cancel(queued: id, at: time(22), reason: "again")
                }
            }
            #expect(try await store.integration(runs) == begun)
        }
    }

    @Test func testThatARefIsKnownByItsTip() async throws {
        try await withStore { fixture in
            // given
            try await fixture.scan([.main: commit(1), .line: commit(1), RefName(tag: "1.0.0"): commit(2)])

            // when, then
            let repository = StoreFixture.repository
            #expect(try await fixture.store.refs(at: commit(1), of: repository) == [.main, .line])
            #expect(try await fixture.store.refs(at: commit(3), of: repository) == [])
            #expect(try await fixture.store.refs(at: commit(1), of: "https://git.example/other.git") == [])
        }
    }

    @Test(
        .proves(
            .storage,
            "The start of an integration takes few transactions: the recipe with the first attempts, an attempt's few results, its few issues with its end"
        ))
    func testThatTheRecipeBringsTheFirstAttempts() async throws {
        try await withStore { fixture in
            // given
            let id = try await fixture.queue().id
            _ = try await fixture.store.takeUp(id, as: nil, at: time(20))
            let recipe = Recipe(configurations: [.init(name: try name("debug")), .init(name: try name("release"))])
            let summary = CommitSummary(subject: "Begin", author: "Ann", committedAt: time(1), tree: "t")

            // when
            let record = try await fixture.store.recordPreparation(
                of: id, Store.Preparation(recipe: recipe, commit: summary, step: .running), at: time(21))

            // then
            #expect(record.state == .running(.running))
            #expect(record.recipe == recipe)
            let attempts = try await fixture.store.attempts(of: id)
            #expect(attempts.map(\.id.description) == ["kit#1/debug/1", "kit#1/release/1"])
            #expect(attempts.allSatisfy { $0.state == .queued })
        }
    }

    @Test func testThatEarlierTestsAreThoseOfTheLastThatRanAny() async throws {
        try await withStore { fixture in
            // given: two tests, then none, then canceled with three
            let store = fixture.store
            for (number, (tests, verdict)) in [(2, Verdict.succeeded), (0, .warnings), (3, .canceled)].enumerated() {
                let id = try await fixture.queue(number + 1).id
                _ = try await store.takeUp(id, as: nil, at: time(20))
                let attempt = try await store.addAttempt(to: id, job: name("debug"), at: time(21)).id
                var counts = Counts()
                counts.tests = tests
                try await store.storeResults(
                    AttemptResults(counts: counts, analysis: "clean", tested: "tests", verdict: verdict), of: attempt,
                    at: time(22))
                try await store.apply(.completed(verdict, triggerFailed: false), to: id, at: time(23))
            }
            let last = try await fixture.queue(4).id

            // when, then
            #expect(try await store.earlierTests(before: last, configuration: name("debug")) == 2)
            #expect(try await store.earlierTests(before: last, configuration: name("release")) == nil)
        }
    }
}
