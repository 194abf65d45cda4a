import Model
import TestSupport
import Testing

@testable import Storage

/// Each scan decides again whether a head is trusted, according to its own list of refs.
@Suite(
    .proves(
        .intake,
        "Pull requests: trusted only if the head is the tip of a branch that the same scan lists (W9, W10, G13, G14)"))
struct StorePullTrustTests {
    private static let topic = RefName(branch: "topic")

    @Test func testThatAForksHeadThatABranchGetsIsIntegratedAsItsOwn() async throws {
        try await withStore { fixture in
            // given: it waits
            let (main, head) = (try commit(1), try commit(7))
            try await fixture.tell(try StoreFixture.claim(), id: "1")
            try await fixture.scanPull(head, heads: [.main: main], answer: StoreFixture.askingForForks)
            #expect(try await fixture.delivery("1").outcome == .refused)

            // when: a user with write access makes it a branch of the repository
            let heads = [RefName.main: main, Self.topic: head]
            try await fixture.scanPull(head, heads: heads, answer: StoreFixture.askingForForks)

            // then
            #expect(try await fixture.ofPull().map { $0.pull?.source } == [Self.topic])
            let delivery = try await fixture.delivery("1")
            #expect(delivery.outcome == .integrated && delivery.reason == "its head is the tip of topic by now")
            #expect(delivery.refUpdates.map(\.outcome) == [.integrated])
            #expect(delivery.refUpdates.first?.integrations == (try await fixture.ofPull().map(\.id)))
            // It is integrated once
            try await fixture.scanPull(head, heads: heads, answer: StoreFixture.askingForForks)
            #expect(try await fixture.ofPull().count == 1)
        }
    }

    @Test func testThatWhatNoBranchHasAnyMoreIsAForksFromThenOn() async throws {
        try await withStore { fixture in
            // given: it was a branch's
            let (main, head) = (try commit(1), try commit(7))
            let own = [RefName.main: main, .line: try commit(2), Self.topic: head]
            try await fixture.tell(try StoreFixture.claim(), id: "1")
            try await fixture.scanPull(head, heads: own, answer: StoreFixture.askingForForks)
            #expect(try await fixture.openPull()?.source == Self.topic)

            // when: the branch moves on, and the pull request stays
            var moved = own
            moved[Self.topic] = try commit(9)
            try await fixture.scanPull(head, heads: moved, answer: StoreFixture.askingForForks)
            #expect(try await fixture.openPull()?.source == nil)

            // then: for another base it waits
            try await fixture.tell(try StoreFixture.claim(base: .line, at: 200), id: "2")
            try await fixture.scanPull(head, heads: moved, answer: StoreFixture.askingForForks)
            #expect(try await fixture.delivery("2").outcome == .refused)
            #expect(try await fixture.ofPull().count == 1)
        }
    }

    @Test func testThatAnApprovalTrustsNoBranchThatTheLastScanDoesNotShow() async throws {
        try await withStore { fixture in
            // given: the scan that sees the branch gone does not find the head, so its trust stays the same
            let (main, head) = (try commit(1), try commit(7))
            try await fixture.tell(try StoreFixture.claim(), id: "1")
            try await fixture.scanPull(
                head, heads: [.main: main, Self.topic: head], answer: { _ in .refuses("not now") })
            try await fixture.scanPull(nil, heads: [.main: main], answer: { _ in .refuses("not now") })

            // when
            let approval = try await fixture.store.approve(
                12, of: try name("kit"), head: head, by: "ada", supersede: .never, at: time(200),
                answer: { seen, _ in StoreFixture.askingForForks(seen) },
                recording: { record in
                    NewEvent(
                        repository: record.repository, bot: record.id.bot, source: .person, hook: "person",
                        event: "approve", receivedAt: time(200), outcome: .integrated)
                })

            // then
            guard case .queued(let record) = approval else { return #expect(Bool(false), "\(approval)") }
            #expect(record.pull?.source == nil && record.pull?.approvedBy == "ada")
        }
    }
}
