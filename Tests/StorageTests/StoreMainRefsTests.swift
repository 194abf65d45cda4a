import GRDB
import Model
import TestSupport
import Testing

@testable import Storage

/// The branch that stands for a bot, and what a new branch is compared with.
@Suite struct StoreMainRefsTests {
    private static let feature = RefName(branch: "feature")

    private static func complete(
        _ fixture: StoreFixture, _ record: IntegrationRecord, _ verdict: Verdict = .succeeded
    ) async throws {
        try await fixture.store.apply(.started, to: record.id, at: time(20))
        try await fixture.store.apply(.completed(verdict, triggerFailed: false), to: record.id, at: time(30))
    }

    @Test(
        .proves(
            .web, "Badge, cctray, metrics, `latest` and a bot's tests are the default branch's unless a branch is named"
        ))
    func testThatTheDefaultBranchStandsForItsBot() async throws {
        try await withStore { fixture in
            // given
            let (store, kit) = (fixture.store, try name("kit"))
            try await fixture.scan([.main: commit(1), Self.feature: commit(2)], watchers: [])
            let main = try await fixture.queue(1)
            try await Self.complete(fixture, main)
            let feature = try await fixture.queue(2, ref: Self.feature)
            try await Self.complete(fixture, feature, .testFailures)
            // then
            #expect(try await store.mainRef(of: kit) == .main)
            #expect(try await store.latestIntegration(of: kit)?.id == main.id)
            #expect(try await store.latestIntegration(of: kit, ref: Self.feature)?.id == feature.id)
            #expect(try await store.latestIntegration(of: kit, ref: .line) == nil)
            #expect(try await store.bot(kit)?.latest?.id == main.id)
            #expect(try await store.lastCompleted()[kit]?.id == main.id)
            // when a newer one of the default branch runs
            let newer = try await fixture.queue(3)
            // then
            #expect(try await store.latestIntegration(of: kit)?.id == newer.id)
            #expect(try await store.lastCompleted()[kit]?.id == main.id)
        }
    }

    @Test func testThatABotWithoutTheDefaultBranchIsItsNewestBranch() async throws {
        try await withStore { fixture in
            // given
            let (store, kit) = (fixture.store, try name("kit"))
            try await fixture.scan([.main: commit(1)], watchers: [])
            let line = try await fixture.queue(2, ref: .line)
            try await Self.complete(fixture, line)
            // then
            #expect(try await store.mainRef(of: kit) == nil)
            #expect(try await store.latestIntegration(of: kit)?.id == line.id)
            #expect(try await store.lastCompleted()[kit]?.id == line.id)
            #expect(try await store.mainRef(of: name("other")) == nil)
        }
    }

    @Test func testThatANewBranchIsComparedWithWhereItBegan() async throws {
        try await withStore { fixture in
            // given
            let store = fixture.store
            let main = try await fixture.queue(1)
            try await Self.complete(fixture, main)
            let canceled = try await fixture.queue(5)
            try await Self.complete(fixture, canceled, .canceled)
            let first = try await fixture.queue(2, ref: Self.feature)
            // when
            #expect(try await store.parents(of: first.id) == [commit(1): 1])
            #expect(try await store.compared(with: first.id) == nil)
            try await store.recordParting(of: first.id, from: 1)
            // then
            #expect(try await store.compared(with: first.id)?.id == main.id)
            #expect(try await store.previous(of: first.id) == nil)
            #expect(try await store.parents(of: first.id) == [:], "it is known")
            // when
            try await Self.complete(fixture, first)
            let second = try await fixture.queue(3, ref: Self.feature)
            // then
            #expect(try await store.parents(of: second.id) == [:], "it has one before it")
            #expect(try await store.compared(with: second.id)?.id == first.id)
        }
    }

    @Test func testThatWhatWaitedForAMissingFileIsQueuedAgainWhenTheFileReturns() async throws {
        try await withStore { fixture in
            // given
            let store = fixture.store
            try await fixture.scan([.main: commit(1), .line: commit(2)])
            let line = try #require(
                try await store.queued().first { $0.ref == .line })
            try await Self.complete(fixture, try #require(try await store.integration(line.id)))
            // when the file is gone
            try await store.register([], at: time(200))
            let orphans = try await store.orphans(since: time(200))
            #expect(orphans.map(\.id.number) == [1] && orphans.map(\.run) == [1])
            #expect(try await store.orphans(since: time(199)).isEmpty)
            try await store.cancel(queued: orphans[0].id, at: time(300), reason: "the file is gone")
            // and returns
            try await store.register(
                [BotSpecification(name: name("kit"), repository: StoreFixture.repository)], at: time(400))
            try await fixture.scan([.main: commit(1), .line: commit(2)], at: 500)
            // then
            #expect(try await store.queued().map(\.commit) == [commit(1)])
            // when it is scanned once more
            try await fixture.scan([.main: commit(1), .line: commit(2)], at: 600)
            #expect(try await store.queued().count == 1)
            #expect(try await fixture.damage() == [])
        }
    }
}
