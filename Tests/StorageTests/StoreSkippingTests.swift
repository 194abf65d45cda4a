import Model
import TestSupport
import Testing

@testable import Storage

@Suite struct StoreSkippingTests {
    private static let summary = CommitSummary(subject: "Words", author: "Ada", committedAt: time(1), tree: "t")

    private func looked(
        _ fixture: StoreFixture, _ number: Int, _ supersede: BotSpecification.Supersede = .queued
    ) async throws -> IntegrationID {
        let outcome = try await fixture.scan(
            [.main: commit(number)], watchers: [fixture.watcher(supersede: supersede)], at: Int64(100 + number))
        return try #require(outcome.integrations.first)
    }

    private func end(_ id: IntegrationID, _ verdict: Verdict, _ fixture: StoreFixture) async throws {
        try await fixture.store.apply(.completed(verdict, triggerFailed: false), to: id, at: time(200))
    }

    @Test func testThatAPushIsJudgedFromWhatWasThereBefore() async throws {
        try await withStore { fixture in
            let first = try await looked(fixture, 1)
            #expect(try await fixture.store.pushedRange(of: first) == nil, "the first of a branch is integrated")
            try await end(first, .succeeded, fixture)
            let second = try await looked(fixture, 2)
            #expect(
                try await fixture.store.pushedRange(of: second) == PushedRange(before: commit(1), hasEarlier: false))
        }
    }

    /// A push that a newer one has ended belongs to the newer one. Otherwise the code of the earlier push would never be judged.
    @Test(
        .proves(
            .intake, "For `paths`, a push that a newer one superseded before it was judged belongs to the newer one"),
        arguments: [Verdict.canceled, .checkoutError, .internalError])
    func testThatAPushThatNobodyJudgedBelongsToTheNext(verdict: Verdict) async throws {
        try await withStore { fixture in
            // given: the second and third end without a judgment of the code
            try await end(try await looked(fixture, 1), .succeeded, fixture)
            let second = try await looked(fixture, 2, .never)
            let third = try await looked(fixture, 3, .never)
            for id in [second, third] { try await end(id, verdict, fixture) }
            // when
            let fourth = try await looked(fixture, 4)
            // then
            #expect(
                try await fixture.store.pushedRange(of: fourth) == PushedRange(before: commit(1), hasEarlier: true))
        }
    }

    @Test(
        .proves(
            .intake, "For `paths`, a push that a newer one superseded before it was judged belongs to the newer one"))
    func testThatOneThatASecondSupersedesBelongsToIt() async throws {
        try await withStore { fixture in
            try await end(try await looked(fixture, 1), .succeeded, fixture)
            _ = try await looked(fixture, 2)
            let third = try await looked(fixture, 3)
            #expect(
                try await fixture.store.pushedRange(of: third) == PushedRange(before: commit(1), hasEarlier: true))
        }
    }

    @Test func testThatOneThatIsRedWasJudged() async throws {
        try await withStore { fixture in
            try await end(try await looked(fixture, 1), .succeeded, fixture)
            try await end(try await looked(fixture, 2), .buildErrors, fixture)
            let third = try await looked(fixture, 3)
            #expect(
                try await fixture.store.pushedRange(of: third) == PushedRange(before: commit(2), hasEarlier: false))
        }
    }

    /// A push that was skipped because of its message is part of the next push. Only one that was skipped because of `paths` is judged again,
    /// since the bot's `paths` may be wider now.
    @Test(
        .proves(
            .intake,
            "`paths` are compared with the commit that was judged last, also after a forced push and past skipped ones; a new branch with where it parts from the default branch"
        ))
    func testThatOneThatWasSkippedBelongsToTheNext() async throws {
        try await withStore { fixture in
            // given
            try await end(try await looked(fixture, 1), .succeeded, fixture)
            let second = try await looked(fixture, 2)
            try await fixture.store.skip(second, reason: "skipped: words", commit: Self.summary, at: time(300))
            // when
            let third = try await looked(fixture, 3)
            // then
            #expect(
                try await fixture.store.pushedRange(of: third) == PushedRange(before: commit(1), hasEarlier: false))
        }
    }

    @Test(
        .proves(
            .intake,
            "`paths` are compared with the commit that was judged last, also after a forced push and past skipped ones; a new branch with where it parts from the default branch"
        ))
    func testThatTheFirstOfABranchIsNeverLeftOutAlsoWhereANewerOneEndsIt() async throws {
        try await withStore(["kit", "lint"]) { fixture in
            // given: the other bot has seen the branch move
            for number in 1...2 {
                _ = try await fixture.scan([.main: commit(number)], watchers: [fixture.watcher("lint")])
            }
            let first = try await looked(fixture, 2)
            // when
            let second = try await looked(fixture, 3)
            // then
            #expect(try await fixture.store.integration(first)?.state.verdict == .canceled)
            #expect(try await fixture.store.pushedRange(of: second) == nil)
        }
    }

    @Test(
        .proves(
            .intake,
            "Path filters (`paths:`) have gitignore(5)'s patterns. A push that changes none of the files is skipped with its reason; the next one that does is integrated"
        ))
    func testThatTheOutcomeStaysWhileAnotherBotIntegratesTheUpdate() async throws {
        try await withStore(["kit", "lint"]) { fixture in
            // given
            let watchers = [try fixture.watcher(), try fixture.watcher("lint")]
            _ = try await fixture.push([RefClaim(ref: .main, before: nil, after: commit(1))], id: "d-1")
            let both = try await fixture.scan([.main: commit(1)], watchers: watchers).integrations
            // when
            try await fixture.store.skip(both[0], reason: "skipped: words", commit: Self.summary, at: time(300))
            // then
            #expect(try await fixture.store.refUpdates().items.map(\.outcome) == [.integrated])
            // when
            try await fixture.store.skip(both[1], reason: "skipped: more words", commit: Self.summary, at: time(300))
            // then
            #expect(try await fixture.store.refUpdates().items.map(\.reason) == ["skipped: more words"])
            let delivery = try #require(try await fixture.store.deliveries().items.first)
            #expect(delivery.outcome == .ignored && delivery.reason == "skipped: more words")
            let record = try #require(try await fixture.store.integration(both[0]))
            #expect(record.isSkipped && record.subject == "Words" && record.state.verdict == .canceled)
        }
    }

    @Test func testThatWhoIsToldOfCommitsIsToldThatItWasSkippedAndWhy() async throws {
        try await withStore { fixture in
            // given
            let bot = BotSpecification(
                name: try name("kit"), repository: StoreFixture.repository, status: StoreOutboxTests.target)
            try await fixture.store.register([bot], at: time(1))
            let first = try await looked(fixture, 1)
            // when
            try await fixture.store.skip(first, reason: "skipped: words", commit: Self.summary, at: time(300))
            // then
            let content = try #require(try await fixture.store.outbox().items.first?.content)
            #expect(content.moment == .skipped && content.reason == "words" && content.verdict == nil)
        }
    }

    @Test(.proves(.intake, "`paths` never skip tags, users' requests, schedules and reruns"))
    func testThatARerunIsNotSkippedAndOneThatIsTakenBackIs() async throws {
        try await withStore { fixture in
            // given
            let first = try await looked(fixture, 1)
            try await fixture.store.skip(first, reason: "skipped: words", commit: Self.summary, at: time(300))
            // when
            let again = try await fixture.store.reopen(
                first, for: NewRerun(requestedBy: "ann", jobs: []), at: time(301))
            // then
            #expect(!again.isSkipped)
            #expect(try await fixture.store.takeBackRerun(of: first, at: time(302)).isSkipped)
            #expect(try await fixture.store.integration(first)?.isSkipped == true)
        }
    }

    @Test func testThatListingsCanLeaveThemOut() async throws {
        try await withStore { fixture in
            let first = try await looked(fixture, 1)
            try await fixture.store.skip(first, reason: "skipped: words", commit: Self.summary, at: time(300))
            var filter = IntegrationFilter()
            #expect(try await fixture.store.integrations(filter).items.count == 1)
            filter.hasSkipped = false
            #expect(try await fixture.store.integrations(filter).items.isEmpty)
        }
    }
}
