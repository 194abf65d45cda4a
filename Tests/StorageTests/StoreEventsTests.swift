import Model
import TestSupport
import Testing

@testable import Storage

@Suite struct StoreEventsTests {
    @Suite(.proves(.storage, "Deliveries: UNIQUE(hook, delivery id) and the body's digest"))
    struct GivenAStoredDelivery {
        @Test func testThatTheSameDeliveryIsADuplicate() async throws {
            try await withStore { fixture in
                // given
                guard case .stored(let first) = try await fixture.push(id: "d-1", digest: "aa") else {
                    Testing.Issue.record("not stored")
                    return
                }
                let request = try await fixture.store.repositoriesToScan()

                // when
                let again = try await fixture.push(id: "d-1", digest: "aa")

                // then
                #expect(again == .duplicate(of: first))
                #expect(try await fixture.store.deliveries().items == [first])
                #expect(try await fixture.store.repositoriesToScan() == request)
            }
        }

        @Test func testThatAnotherBodyUnderItsIDIsAConflict() async throws {
            try await withStore { fixture in
                guard case .stored(let first) = try await fixture.push(id: "d-1", digest: "aa") else {
                    Testing.Issue.record("not stored")
                    return
                }
                #expect(try await fixture.push(id: "d-1", digest: "bb") == .conflict(with: first))
                #expect(try await fixture.store.deliveries().items == [first])
            }
        }

        @Test func testThatAThousandAtOnceAreStoredOnce() async throws {
            try await withStore { fixture in
                // when
                let stored = try await withThrowingTaskGroup(of: Bool.self) { group in
                    for _ in 1...1000 {
                        group.addTask {
                            if case .stored = try await fixture.push(id: "d-1", digest: "aa") { true } else { false }
                        }
                    }
                    return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
                }

                // then
                #expect(stored == 1)
                #expect(try await fixture.store.deliveries().items.count == 1)
            }
        }
    }

    @Test func testThatEventsWithoutAnIDAreNeverDuplicates() async throws {
        try await withStore { fixture in
            _ = try await fixture.push()
            _ = try await fixture.push()
            #expect(try await fixture.store.deliveries().items.map(\.id) == ["2", "1"])
        }
    }

    @Test(arguments: [EventOutcome.ignored, .refused, .integrated])
    func testThatAFinalOutcomeAsksForNoScan(outcome: EventOutcome) async throws {
        try await withStore { fixture in
            try await fixture.scan([:])
            _ = try await fixture.push(outcome: outcome)
            #expect(try await fixture.store.repositoriesToScan() == [])
            #expect(try await fixture.store.deliveries().items.map(\.outcome) == [outcome])
        }
    }

    @Test func testThatAPendingEventAsksForAScanAndTellsOfTheWebhook() async throws {
        try await withStore { fixture in
            try await fixture.scan([:])
            #expect(try await fixture.store.repository(StoreFixture.repository)?.hasAuthenticWebhook == false)
            _ = try await fixture.push()
            let repository = try #require(try await fixture.store.repository(StoreFixture.repository))
            #expect(repository.isScanRequested)
            #expect(repository.hasAuthenticWebhook)
            #expect(try await fixture.store.repositoriesToScan().count == 1)
        }
    }

    @Test func testThatAnEventOfNoRepositoryDoesNotWait() async throws {
        try await withStore { fixture in
            let event = NewEvent(
                repository: nil, source: .webhook, hook: "github", event: "push", receivedAt: time(1))
            guard case .stored(let record) = try await fixture.store.record(event) else {
                Testing.Issue.record("not stored")
                return
            }
            #expect(record.outcome == .ignored)
            #expect(record.reason == "no bot has this repository")
        }
    }

    @Test func testThatItKeepsWhatTheEventClaims() async throws {
        try await withStore { fixture in
            let zero = try #require(CommitID(String(repeating: "0", count: 40)))
            let claims = [
                RefClaim(ref: .main, before: zero, after: try commit(1)),
                RefClaim(ref: .line, before: try commit(2), after: zero),
            ]
            _ = try await fixture.push(claims, id: "d-1")
            let stored = try #require(try await fixture.store.deliveries().items.first)
            #expect(stored.claims == claims)
            #expect(stored.claims.map(\.before) == [nil, try commit(2)])
            #expect(stored.id == "d-1")
            #expect(stored.source == .webhook)
        }
    }

    @Test func testThatTooManyClaimsAreRefused() async throws {
        try await withStore { fixture in
            let claim = RefClaim(ref: .main, before: nil, after: try commit(1))
            let claims = Array(repeating: claim, count: NewEvent.maximumClaims + 1)
            await expectFailure(.tooLarge, "push fewer refs") { try await fixture.push(claims) }
            #expect(try await fixture.store.deliveries().items == [])
        }
    }

    @Test func testThatALongDeliveryIDIsRefused() async throws {
        try await withStore { fixture in
            await expectFailure(.tooLarge) { try await fixture.push(id: String(repeating: "a", count: 1025)) }
        }
    }

    @Test func testThatListingsContinueWhileRowsAreAdded() async throws {
        try await withStore { fixture in
            // given
            for _ in 1...5 { _ = try await fixture.push() }

            // when
            let first = try await fixture.store.deliveries(limit: 2)
            _ = try await fixture.push()
            let second = try await fixture.store.deliveries(limit: 2, before: first.next)
            let third = try await fixture.store.deliveries(limit: 2, before: second.next)

            // then
            #expect([first, second, third].map { $0.items.map(\.rowID) } == [[5, 4], [3, 2], [1]])
            #expect(third.next == nil)
        }
    }
}
