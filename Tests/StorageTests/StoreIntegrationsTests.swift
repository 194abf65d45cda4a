import GRDB
import Model
import TestSupport
import Testing

@testable import Storage

@Suite struct StoreIntegrationsTests {
    private static func complete(
        _ id: IntegrationID, _ verdict: Verdict = .succeeded, in fixture: StoreFixture
    ) async throws {
        try await fixture.store.apply(.completed(verdict, triggerFailed: false), to: id, at: time(99))
    }

    @Suite struct GivenABot {
        @Test(.proves(.storage, "Integrations: numbers of a bot, never reused"))
        func testThatNumbersCountFromOneAndAreNeverUsedAgain() async throws {
            try await withStore { fixture in
                // given
                _ = try await fixture.queue(1)
                let second = try await fixture.queue(2)

                // when: removing a row does not free its number
                try await fixture.store.writer.write("remove") {
                    try $0.db.execute(sql: "DELETE FROM integrations WHERE id = ?", arguments: [second.rowID])
                }
                let third = try await fixture.queue(3)

                // then
                #expect(second.id.number == 2)
                #expect(third.id.number == 3)
                #expect(third.rowID > second.rowID)
            }
        }

        @Test func testThatWhatWasSaidOfAWaitIsNotTheReasonOfItsEnd() async throws {
            try await withStore { fixture in
                // given
                let id = try await fixture.queue().id
                try await fixture.store.apply(.started, to: id, at: time(2))
                try await fixture.store.explain([id], "a job waits to be started")
                #expect(try await fixture.store.integration(id)?.reason == "a job waits to be started")
                // when
                try await complete(id, in: fixture)
                // then
                let record = try #require(try await fixture.store.integration(id))
                #expect(record.state.verdict == .succeeded)
                #expect(record.reason == nil)
            }
        }

        @Test(.proves(.storage, "Integrations: numbers of a bot, never reused"))
        func testThatNumbersOfAHundredAtOnceHaveNoGaps() async throws {
            try await withStore { fixture in
                let numbers = try await withThrowingTaskGroup(of: Int.self) { group in
                    for number in 1...100 { group.addTask { try await fixture.queue(number).id.number } }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
                #expect(numbers.sorted() == Array(1...100))
            }
        }

        @Test func testThatNumbersGoOnWhenTheBotReturns() async throws {
            try await withStore { fixture in
                // given
                _ = try await fixture.queue()
                try await fixture.store.register([], at: time(1))
                #expect(try await fixture.store.bots().map(\.isRetired) == [true])
                await expectFailure(.notFound) { try await fixture.queue() }

                // when
                let kit = BotSpecification(name: try name("kit"), repository: "https://git.example/moved.git")
                try await fixture.store.register([kit], at: time(2))

                // then
                let record = try await fixture.queue(2)
                #expect(record.id.number == 2)
                #expect(record.repository == "https://git.example/moved.git")
                #expect(try await fixture.store.bots().map(\.latest?.id.number) == [2])
            }
        }

        @Test func testThatItsLastGoodFormIsKeptUntilItsFileIsGone() async throws {
            try await withStore { fixture in
                // given
                let kit = BotSpecification(
                    name: try name("kit"), repository: StoreFixture.repository, branches: [RefPattern("release/*")],
                    poll: .every(.seconds(5)), timeout: .seconds(60))

                // when
                try await fixture.store.register([kit], at: time(1))

                // then
                #expect(try await fixture.store.specifications() == [kit])
                try await fixture.store.register([], at: time(2))
                #expect(try await fixture.store.specifications() == [])
            }
        }

        @Test func testThatAChangedBotIsLookedFor() async throws {
            try await withStore { fixture in
                // given
                try await fixture.scan([:])
                var kit = BotSpecification(name: try name("kit"), repository: StoreFixture.repository)
                try await fixture.store.register([kit], at: time(1))
                #expect(try await fixture.store.repositoriesToScan() == [])

                // when
                kit.branches = [RefPattern("**")]
                try await fixture.store.register([kit], at: time(2))

                // then
                #expect(try await fixture.store.repositoriesToScan().map(\.repository) == [StoreFixture.repository])
            }
        }
    }

    @Suite struct GivenAQueuedIntegration {
        @Test func testThatItLivesThroughItsStates() async throws {
            try await withStore { fixture in
                // given
                let id = try await fixture.queue().id
                #expect(try await fixture.store.queued().map(\.id) == [id])

                // when
                try await fixture.store.apply(.started, to: id, at: time(20))
                #expect(try await fixture.store.running().map(\.id) == [id])
                try await fixture.store.apply(.entered(.afterTriggers), to: id, at: time(21))
                let running = try #require(try await fixture.store.integration(id))
                try await fixture.store.apply(
                    .completed(.warnings, triggerFailed: true), to: id, at: time(30), reason: "the upload failed")

                // then
                #expect(running.state == .running(.afterTriggers))
                let record = try #require(try await fixture.store.integration(id))
                #expect(record.state == .completed(.warnings, triggerFailed: true))
                #expect(record.state.result == .triggerError)
                #expect([record.queuedAt, record.startedAt, record.endedAt] == [time(10), time(20), time(30)])
                #expect(record.reason == "the upload failed")
                #expect(record.requestedBy == "ann")
                #expect(try await fixture.store.queued() == [])
                #expect(try await fixture.store.running() == [])
            }
        }

        @Test(arguments: [IntegrationState.Event.entered(.running), .reopened])
        func testThatAnIllegalChangeStoresNothing(event: IntegrationState.Event) async throws {
            try await withStore { fixture in
                let before = try await fixture.queue()
                await expectFailure(.illegalTransition, "nothing was stored") {
                    try await fixture.store.apply(event, to: before.id, at: time(20), reason: "x")
                }
                #expect(try await fixture.store.integration(before.id) == before)
            }
        }

        @Test func testThatACompletedOneStaysCompleted() async throws {
            try await withStore { fixture in
                let id = try await fixture.queue().id
                try await StoreIntegrationsTests.complete(id, in: fixture)
                for event: IntegrationState.Event in [
                    .started, .entered(.running), .completed(.canceled, triggerFailed: false),
                ] {
                    await expectFailure(.illegalTransition) {
                        try await fixture.store.apply(event, to: id, at: time(200))
                    }
                }
                #expect(try await fixture.store.integration(id)?.endedAt == time(99))
            }
        }

        @Test func testThatOneOfTwoThatLeaseItFails() async throws {
            try await withStore { fixture in
                let id = try await fixture.queue().id
                let started = await withTaskGroup(of: Bool.self) { group in
                    for _ in 1...2 {
                        group.addTask {
                            do throws(StoreError) {
                                try await fixture.store.apply(.started, to: id, at: time(20))
                                return true
                            } catch {
                                return false
                            }
                        }
                    }
                    return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
                }
                #expect(started == 1)
            }
        }

        @Test func testThatItKeepsItsRecipeAndCommit() async throws {
            try await withStore { fixture in
                // given
                let id = try await fixture.queue().id
                let recipe = Recipe(
                    configurations: [
                        .init(name: try name("debug"), environment: ["A": "1"], timeout: .seconds(60))
                    ], analyze: [.tool(.swiftFormat), .command(.init(run: "./lint.sh", report: ["lint.sarif"]))],
                    projectType: .swiftPackage)
                let long = String(repeating: "é", count: 4000)

                // when
                try await fixture.store.recordPreparation(
                    of: id,
                    Store.Preparation(
                        recipe: recipe,
                        commit: CommitSummary(subject: long, author: "Ann", committedAt: time(5), tree: "ab")),
                    at: time(20))

                // then
                let record = try #require(try await fixture.store.integration(id))
                #expect(record.recipe == recipe)
                #expect(record.subject == String(repeating: "é", count: 2048))
                #expect(record.author == "Ann")
                #expect(record.committedAt == time(5))
                #expect(record.tree == "ab")
            }
        }

        @Test func testThatOneThatDoesNotExistIsSaidToBeSo() async throws {
            try await withStore { fixture in
                let id = IntegrationID(bot: try name("kit"), number: 7)
                #expect(try await fixture.store.integration(id) == nil)
                await expectFailure(.notFound, "kit#7") {
                    try await fixture.store.apply(.started, to: id, at: time(1))
                }
            }
        }
    }

    @Suite struct GivenSeveralIntegrations {
        @Test func testThatTheyAreListedNewestFirstInPages() async throws {
            try await withStore { fixture in
                // given
                for number in 1...5 { _ = try await fixture.queue(number) }

                // when
                let first = try await fixture.store.integrations(limit: 2)
                _ = try await fixture.queue(6)
                let second = try await fixture.store.integrations(limit: 2, before: first.next)
                let third = try await fixture.store.integrations(limit: 2, before: second.next)

                // then
                #expect([first, second, third].map { $0.items.map(\.id.number) } == [[5, 4], [3, 2], [1]])
                #expect(third.next == nil)
            }
        }

        @Test(arguments: [(0, 1), (-1, 1), (1_000_000, 200)])
        func testThatAPageIsBounded(requested: Int, size: Int) {
            #expect(Store.pageSize(requested) == size)
        }

        @Test func testThatFiltersJoin() async throws {
            try await withStore(["kit", "lint"]) { fixture in
                // given
                let store = fixture.store
                let one = try await fixture.queue(1).id
                let two = try await fixture.queue(2, ref: .line).id
                let other = try await store.queue(
                    NewIntegration(bot: name("lint"), ref: .main, commit: commit(1), cause: .schedule), at: time(3)
                ).id
                try await StoreIntegrationsTests.complete(one, .testFailures, in: fixture)
                func found(_ filter: IntegrationFilter) async throws -> [IntegrationID] {
                    try await store.integrations(filter).items.map(\.id)
                }

                // then
                #expect(try await found(IntegrationFilter()) == [other, two, one])
                #expect(try await found(IntegrationFilter(bot: name("kit"))) == [two, one])
                #expect(try await found(IntegrationFilter(state: "queued")) == [other, two])
                #expect(try await found(IntegrationFilter(bot: name("kit"), state: "queued")) == [two])
                #expect(try await found(IntegrationFilter(ref: .line)) == [two])
                #expect(try await found(IntegrationFilter(commit: commit(1))) == [other, one])
                #expect(try await found(IntegrationFilter(verdict: .testFailures)) == [one])
                #expect(try await found(IntegrationFilter(state: "' OR 1 --")) == [])
            }
        }

        @Test func testThatThePreviousOneIsTheLastThatJudgedTheRef() async throws {
            try await withStore { fixture in
                // given: succeeded, another ref's, canceled, internal error, still queued
                let verdicts: [(Verdict?, RefName)] = [
                    (.succeeded, .main), (.buildErrors, .line), (.canceled, .main), (.checkoutError, .main),
                    (.internalError, .main), (nil, .main),
                ]
                for (verdict, ref) in verdicts {
                    let id = try await fixture.queue(1, ref: ref).id
                    if let verdict { try await StoreIntegrationsTests.complete(id, verdict, in: fixture) }
                }

                // when
                let id = try await fixture.queue().id

                // then
                #expect(try await fixture.store.previous(of: id)?.id.number == 1)
                let first = IntegrationID(bot: try name("kit"), number: 1)
                #expect(try await fixture.store.previous(of: first) == nil)
                #expect(try await fixture.store.latestIntegration(of: name("kit"))?.id == id)
            }
        }
    }
}
