import Model
import TestSupport
import Testing

@testable import Storage

/// Pull requests as events announce them and looks see them.
@Suite struct StorePullRequestsTests {
    private static let place = RefName("refs/pull/12/head")

    private func claim(
        base: RefName = .main, isOpen: Bool = true, at seconds: Int64? = 100, head: Int = 7
    ) throws -> PullRequestClaim {
        PullRequestClaim(
            number: 12, ref: Self.place, place: Self.place, base: base, head: try commit(head), isOpen: isOpen,
            toldAt: seconds.map { time($0) })
    }

    private func tell(_ claim: PullRequestClaim, id: String, in fixture: StoreFixture) async throws {
        _ = try await fixture.store.record(
            NewEvent(
                repository: StoreFixture.repository, bot: try name("kit"), source: .webhook, hook: "github/kit",
                deliveryID: id, event: "pull_request", receivedAt: time(50),
                claims: [RefClaim(ref: claim.ref, before: nil, after: claim.head)], pull: claim))
    }

    private func scan(
        _ fixture: StoreFixture, head: CommitID?, heads: [RefName: CommitID],
        answer: PullRequestAnswer = .integrates
    ) async throws -> ScanOutcome {
        try await fixture.store.requestScan(at: StoreFixture.repository)
        let request = try #require(try await fixture.store.repositoriesToScan().first)
        var watcher = try fixture.watcher()
        watcher.answer = { _ in answer }
        let others = head.map { [Self.place: $0] } ?? [:]
        return try await fixture.store.apply(
            RefScan(
                request: request, heads: heads, others: others, asked: [Self.place], defaultBranch: .main,
                at: time(100),
                cause: .poll, watchers: [watcher]))
    }

    @Test(
        .proves(
            .intake, "Pull requests: what an event tells of them is a claim, by each forge's form, in the forge's order"
        ))
    func testThatEventsThatOvertakeEachOtherCountInTheForgesOrder() async throws {
        try await withStore { fixture in
            // given: closed at 200, and an older event that arrives later
            try await tell(try claim(at: 100), id: "1", in: fixture)
            try await tell(try claim(isOpen: false, at: 200), id: "2", in: fixture)

            // when
            try await tell(try claim(base: .line, at: 150), id: "3", in: fixture)

            // then
            #expect(try await fixture.store.openPulls(of: StoreFixture.repository).isEmpty)
            // A newer one does
            try await tell(try claim(base: .line, at: 201), id: "4", in: fixture)
            let open = try #require(try await fixture.store.openPulls(of: StoreFixture.repository).first)
            #expect(open.base == .line && open.hasChanged)
        }
    }

    @Test(
        .proves(
            .intake,
            "Pull requests: trusted only if the head is the tip of a branch that the same scan lists (W9, W10, G13, G14)"
        ))
    func testThatAHeadIsNoRefOfTheRepository() async throws {
        try await withStore { fixture in
            // given
            let (main, head) = (try commit(1), try commit(7))
            try await tell(try claim(), id: "1", in: fixture)

            // when
            let outcome = try await scan(fixture, head: head, heads: [.main: main])

            // then: it cannot be taken for a pull request
            #expect(outcome.integrations.count == 2)
            #expect(try await fixture.store.heads(of: StoreFixture.repository) == [.main: main])
            #expect(try await fixture.store.refs(at: head, of: StoreFixture.repository).isEmpty)
            // A scan that lists no other refs does not take it for deleted
            let next = try await scan(fixture, head: nil, heads: [.main: main])
            #expect(next.refUpdates.isEmpty && next.integrations.isEmpty)
            #expect(try await fixture.store.openPulls(of: StoreFixture.repository).first?.head == head)
        }
    }

    @Test(
        .proves(
            .intake,
            "Pull requests: trusted only if the head is the tip of a branch that the same scan lists (W9, W10, G13, G14)"
        ))
    func testThatABranchOfTheSameScanMakesItTrustedAndNoTagDoes() async throws {
        try await withStore { fixture in
            // given
            let head = try commit(7)
            try await tell(try claim(), id: "1", in: fixture)
            let tags = [RefName(tag: "topic"): head, RefName("refs/tags/refs/heads/topic"): head]

            // when
            let fork = try await scan(fixture, head: head, heads: tags.merging([.main: try commit(1)]) { $1 })
            let branches = [RefName(branch: "b"): try commit(8), RefName(branch: "a"): try commit(8)]
            let own = try await scan(
                fixture, head: try commit(8), heads: branches.merging([.main: try commit(1)]) { $1 })

            // then
            let records = try await fixture.store.integrations(
                IntegrationFilter(ref: RefName(pullRequest: 12))
            ).items
            #expect(fork.integrations.count == 2 && own.integrations.count == 1)
            #expect(records.map { $0.pull?.source } == [RefName(branch: "a"), nil])
        }
    }

    @Test func testThatAScanThatDidNotAskForItSaysNothingOfIt() async throws {
        try await withStore { fixture in
            // given: the event arrives after the heads were requested
            let request = try #require(try await fixture.store.repositoriesToScan().first)
            try await tell(try claim(), id: "1", in: fixture)

            // when
            _ = try await fixture.store.apply(
                RefScan(
                    request: request, heads: [.main: try commit(1)], defaultBranch: .main, at: time(100), cause: .poll,
                    watchers: [fixture.watcher()]))

            // then: its own look is still pending
            #expect(try await fixture.store.deliveries().items.first?.outcome == .pending)
            #expect(try await fixture.store.repositoriesToScan().count == 1)
        }
    }

    @Test func testThatEveryAnswerHasItsOutcome() async throws {
        for (answer, expected, reason) in [
            (PullRequestAnswer.integrates, EventOutcome.integrated, nil as String?), (.refuses("no"), .ignored, "no"),
            (
                .awaitsApproval, .refused,
                "its head is a fork's and waits for an operator: martlet approve 'kit!12' --commit \(try commit(7))"
            ),
        ] {
            try await withStore { fixture in
                // given
                try await tell(try claim(), id: "1", in: fixture)

                // when
                let outcome = try await scan(
                    fixture, head: try commit(7), heads: [.main: try commit(1)], answer: answer)

                // then
                let delivery = try #require(try await fixture.store.deliveries().items.first)
                #expect(delivery.outcome == expected && delivery.reason == reason)
                let update = try #require(outcome.refUpdates.first { $0.ref == Self.place })
                #expect(update.outcome == expected && update.reason == reason)
                #expect(delivery.refUpdates.map(\.rowID) == [update.rowID])
                #expect(try await fixture.damage() == [])
            }
        }
    }
}
