import Model
import Storage
import TestSupport
import Testing

/// Cases in which a commit could be missed or judged twice, in addition to those of `StoreScansTests`.
@Suite struct StoreLedgerTests {
    private static let tag = RefName(tag: "v1")

    /// Returns `REF@COMMIT`, oldest first.
    private static func integrated(_ fixture: StoreFixture) async throws -> [String] {
        try await fixture.store.integrations(limit: 100).items.reversed().map {
            "\($0.ref.shortName)@\($0.commit.description.suffix(1))"
        }
    }

    /// Its push is announced after a poll has found it.
    @Test(
        .proves(
            .intake,
            "Two deliveries between two looks, a poll before the webhook, a late delivery: one integration, each event with its outcome"
        ))
    func testThatWhatAPollFoundIsADuplicateForTheWebhookThatComesLater() async throws {
        try await withStore { fixture in
            // given
            try await fixture.scan([.main: commit(1)])
            try await fixture.scan([.main: commit(2)], cause: .poll)
            // when
            _ = try await fixture.push([RefClaim(ref: .main, before: commit(1), after: commit(2))], id: "d-1")
            let outcome = try await fixture.scan([.main: commit(2)])
            // then
            #expect(outcome.integrations.isEmpty)
            #expect(try await Self.integrated(fixture) == ["main@1", "main@2"])
            let delivery = try #require(try await fixture.store.deliveries().items.first)
            #expect(delivery.outcome == .duplicate && delivery.reason == "this was known already")
            #expect(delivery.refUpdates.flatMap(\.integrations).map(\.number) == [2])
        }
    }

    /// It may be forced or not, because ancestry is not checked.
    @Test(.proves(.intake, "A→B→A→B, forced pushes, deleted and recreated branches"))
    func testThatAForcedPushBackToAnOlderCommitIsAnUpdateOfItsOwn() async throws {
        try await withStore { fixture in
            for number in [1, 2, 3] { try await fixture.scan([.main: commit(number)]) }
            // when
            _ = try await fixture.push([RefClaim(ref: .main, before: commit(3), after: commit(1))], id: "forced")
            let outcome = try await fixture.scan([.main: commit(1)])
            // then
            #expect(outcome.refUpdates.map(\.generation) == [4])
            #expect(outcome.refUpdates.map(\.before) == [try commit(3)])
            #expect(try await Self.integrated(fixture) == ["main@1", "main@2", "main@3", "main@1"])
            #expect(try await fixture.store.deliveries().items.first?.outcome == .integrated)
        }
    }

    @Test(.proves(.intake, "A→B→A→B, forced pushes, deleted and recreated branches"), arguments: [(1, 0), (2, 1)])
    func testThatABranchThatWasDeletedAndMadeAgainBetweenTwoScansIsWhatItIsNow(
        _ number: Int, _ updates: Int
    ) async throws {
        try await withStore { fixture in
            try await fixture.scan([.main: commit(1)])
            // when: both events arrived before the scan
            _ = try await fixture.push(
                [RefClaim(ref: .main, before: commit(1), after: nil)], id: "deleted")
            _ = try await fixture.push(
                [RefClaim(ref: .main, before: nil, after: commit(number))], id: "made")
            let outcome = try await fixture.scan([.main: commit(number)])
            // then
            #expect(outcome.refUpdates.count == updates && outcome.integrations.count == updates)
            let outcomes = try await fixture.store.deliveries().items.reversed().map(\.outcome)
            #expect(outcomes == (updates == 0 ? [.superseded, .duplicate] : [.coalesced, .integrated]))
        }
    }

    @Test(.proves(.intake, "Moved tags, two branches at one commit, a tag and a branch of one name"))
    func testThatATagThatMovesIsIntegratedAgainAndOneThatIsDeletedIsNot() async throws {
        try await withStore { fixture in
            let watchers = [try fixture.watcher(tags: ["*"])]
            try await fixture.scan([.main: commit(1)], watchers: watchers)
            for number in [1, 2] {
                try await fixture.scan([.main: commit(1), Self.tag: commit(number)], watchers: watchers)
            }
            let deleted = try await fixture.scan([.main: commit(1)], watchers: watchers)
            // then
            #expect(try await Self.integrated(fixture) == ["main@1", "v1@1", "v1@2"])
            #expect(deleted.refUpdates.map(\.generation) == [3])
            #expect(deleted.refUpdates.map(\.outcome) == [.ignored])
        }
    }

    @Test(.proves(.intake, "Moved tags, two branches at one commit, a tag and a branch of one name"))
    func testThatTwoBranchesAndATagAtOneCommitAreThreeIntegrations() async throws {
        try await withStore { fixture in
            let watchers = [try fixture.watcher(branches: ["**"], tags: ["*"])]
            try await fixture.scan([.main: commit(1)], watchers: watchers)
            // when: two branches and a tag, which has a branch's name
            let heads = [RefName(branch: "left"), RefName(branch: "v1"), Self.tag]
            _ = try await fixture.push(heads.map { RefClaim(ref: $0, before: nil, after: try commit(2)) }, id: "d-1")
            var all = [RefName.main: try commit(1)]
            for ref in heads { all[ref] = try commit(2) }
            let outcome = try await fixture.scan(all, watchers: watchers)
            // then
            #expect(Set(outcome.refUpdates.map(\.ref)) == Set(heads))
            #expect(outcome.refUpdates.allSatisfy { $0.integrations.count == 1 && $0.outcome == .integrated })
            #expect(Set(outcome.integrations).count == 3)
            let delivery = try #require(try await fixture.store.deliveries().items.first)
            #expect(delivery.refUpdates.count == 3)
        }
    }
}
