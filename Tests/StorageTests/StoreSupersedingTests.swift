import Model
import TestSupport
import Testing

@testable import Storage

/// The integrations that a newer commit of a ref ends, and their outcomes.
@Suite struct StoreSupersedingTests {
    private static func looked(
        _ fixture: StoreFixture, _ number: Int, _ supersede: BotSpecification.Supersede
    ) async throws -> IntegrationID {
        let outcome = try await fixture.scan(
            [.main: commit(number)], watchers: [fixture.watcher(supersede: supersede)], at: Int64(100 + number))
        return try #require(outcome.integrations.first)
    }

    @Suite struct GivenOneThatWaits {
        @Test(
            .proves(.intake, "`supersede: queued, running, never`, with outcomes and reasons"),
            arguments: [BotSpecification.Supersede.queued, .running])
        func testThatItIsCanceledWithReasonAndOutcome(supersede: BotSpecification.Supersede) async throws {
            try await withStore { fixture in
                // given: a push announced the first
                _ = try await fixture.push([RefClaim(ref: .main, before: nil, after: commit(1))], id: "d-1")
                let first = try await looked(fixture, 1, supersede)

                // when
                let second = try await looked(fixture, 2, supersede)

                // then
                let record = try #require(try await fixture.store.integration(first))
                #expect(record.state == .completed(.canceled, triggerFailed: false))
                #expect(record.reason == "superseded by kit#2, a newer commit of main")
                #expect(record.supersededBy == second)
                #expect(record.endedAt == time(102))
                #expect(try await fixture.store.queued().map(\.id) == [second])
                let updates = try await fixture.store.refUpdates().items
                #expect(updates.map(\.outcome) == [.integrated, .superseded])
                #expect(updates.last?.reason == record.reason)
                let delivery = try #require(try await fixture.store.deliveries().items.last)
                #expect(delivery.outcome == .superseded)
                #expect(delivery.reason == record.reason)
            }
        }

        @Test func testThatNeverEndsNone() async throws {
            try await withStore { fixture in
                for number in 1...3 { _ = try await looked(fixture, number, .never) }
                #expect(try await fixture.store.queued().count == 3)
            }
        }

        @Test func testThatAPersonsAndAnotherRefsAreLeftAlone() async throws {
            try await withStore { fixture in
                // given
                let person = try await fixture.queue(7).id
                let watchers = [try fixture.watcher(supersede: .running)]
                try await fixture.scan([.line: commit(1)], watchers: watchers)

                // when
                try await fixture.scan([.line: commit(1), .main: commit(2)], watchers: watchers)

                // then
                let queued = try await fixture.store.queued()
                #expect(queued.map(\.ref) == [.main, .line, .main])
                #expect(queued.first?.id == person)
            }
        }

        @Test func testThatTheOutcomeStaysWhileAnotherBotIntegratesTheUpdate() async throws {
            try await withStore(["kit", "lint"]) { fixture in
                // given: kit is superseded, lint never is
                func watchers() throws -> [Watcher] {
                    [try fixture.watcher(supersede: .queued), try fixture.watcher("lint", supersede: .never)]
                }
                try await fixture.scan([.main: commit(1)], watchers: watchers())

                // when
                try await fixture.scan([.main: commit(2)], watchers: watchers())

                // then
                let updates = try await fixture.store.refUpdates().items
                #expect(updates.map(\.outcome) == [.integrated, .integrated])
                #expect(try await fixture.store.queued().map(\.id.description) == ["lint#1", "kit#2", "lint#2"])
            }
        }
    }

    @Suite struct GivenOneThatRuns {
        @Test func testThatQueuedLeavesItAlone() async throws {
            try await withStore { fixture in
                let first = try await looked(fixture, 1, .queued)
                try await fixture.store.apply(.started, to: first, at: time(110))
                _ = try await looked(fixture, 2, .queued)
                #expect(try await fixture.store.integration(first)?.supersededBy == nil)
            }
        }

        /// One bot's run ends green although it is marked. Another bot's run of the same update is canceled for good.
        @Test(.proves(.intake, "`supersede: queued, running, never`, with outcomes and reasons"))
        func testThatWhatEndedOtherwiseWasNotSuperseded() async throws {
            try await withStore(["kit", "lint"]) { fixture in
                // given
                let store = fixture.store
                func watchers() throws -> [Watcher] {
                    try ["kit", "lint"].map { try fixture.watcher($0, supersede: .running) }
                }
                try await fixture.scan([.main: commit(1)], watchers: watchers())
                let kit = IntegrationID(bot: try name("kit"), number: 1)
                try await store.apply(.started, to: kit, at: time(110))

                // when
                try await fixture.scan([.main: commit(2)], watchers: watchers(), at: 120)
                let marked = try await store.integration(kit)?.supersededBy
                let outcomes = try await store.refUpdates().items.map(\.outcome)
                try await store.apply(.completed(.succeeded, triggerFailed: false), to: kit, at: time(121))

                // then
                #expect(marked?.number == 2)
                #expect(outcomes == [.integrated, .integrated], "it may still end green")
                #expect(try await store.integration(kit)?.supersededBy == nil)
                #expect(try await store.refUpdates().items.map(\.outcome) == [.integrated, .integrated])
            }
        }

        @Test(
            .proves(.intake, "`supersede: queued, running, never`, with outcomes and reasons"),
            arguments: [
                (IntegrationStep.preparing, true), (.beforeTriggers, true), (.running, true), (.afterTriggers, false),
                (.uploading, false),
            ])
        func testThatRunningMarksItUntilItsTriggersBegin(step: IntegrationStep, isMarked: Bool) async throws {
            try await withStore { fixture in
                // given
                let first = try await looked(fixture, 1, .running)
                try await fixture.store.apply(.started, to: first, at: time(110))
                try await fixture.store.apply(.entered(step), to: first, at: time(111))

                // when
                let second = try await looked(fixture, 2, .running)

                // then: it continues until the scheduler ends it
                let open = try #require(try await fixture.store.running().first)
                #expect(open.id == first)
                #expect(open.supersededBy == (isMarked ? second : nil))
                #expect(try await fixture.store.refUpdates().items.map(\.outcome) == [.integrated, .integrated])
                try await fixture.store.apply(.completed(.canceled, triggerFailed: false), to: first, at: time(120))
                let outcomes = try await fixture.store.refUpdates().items.map(\.outcome)
                #expect(outcomes == [.integrated, isMarked ? .superseded : .integrated])
            }
        }
    }
}
