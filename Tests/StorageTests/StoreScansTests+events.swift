import Model
import TestSupport
import Testing

@testable import Storage

extension StoreScansTests {
    @Suite(
        .proves(
            .intake,
            "Two deliveries between two looks, a poll before the webhook, a late delivery: one integration, each event with its outcome"
        ))
    struct GivenPendingEvents {
        /// A delivery's claims, the refs of the next scan besides main at 1 and tag 1.0 at 1, and the outcome.
        struct Case: CustomTestStringConvertible, Sendable {
            var testDescription: String
            var claims: [(RefName, Int?, Int?)]
            var heads: [RefName: Int]
            var outcome: EventOutcome
            var updates: Int
        }

        static let tag = RefName(tag: "1.0")
        static let cases: [Case] = [
            Case(
                testDescription: "claimed head found", claims: [(.main, 1, 2)], heads: [.main: 2, tag: 1],
                outcome: .integrated, updates: 1),
            Case(
                testDescription: "newer head found", claims: [(.main, 1, 2)], heads: [.main: 3, tag: 1],
                outcome: .coalesced, updates: 1),
            Case(
                testDescription: "known already", claims: [(.main, 0, 1)], heads: [.main: 1, tag: 1],
                outcome: .duplicate,
                updates: 1),
            Case(
                testDescription: "not there yet", claims: [(.main, 1, 7)], heads: [.main: 1, tag: 1],
                outcome: .pending, updates: 0),
            Case(testDescription: "deleted", claims: [(.main, 1, nil)], heads: [tag: 1], outcome: .ignored, updates: 1),
            Case(
                testDescription: "deleted since", claims: [(.main, 1, 2)], heads: [tag: 1], outcome: .coalesced,
                updates: 1
            ),
            Case(
                testDescription: "branch unwatched", claims: [(RefName(branch: "x"), nil, 2)],
                heads: [.main: 1, tag: 1, RefName(branch: "x"): 2], outcome: .ignored, updates: 1),
            Case(
                testDescription: "annotated tag's own object", claims: [(tag, 1, 900)], heads: [.main: 1, tag: 5],
                outcome: .ignored, updates: 1),
            Case(
                testDescription: "two refs, one not there yet", claims: [(.main, 1, 2), (.line, nil, 8)],
                heads: [.main: 2, tag: 1], outcome: .pending, updates: 1),
            Case(
                testDescription: "no claims, moved", claims: [], heads: [.main: 2, tag: 1], outcome: .integrated,
                updates: 1),
            Case(
                testDescription: "no claims, nothing moved", claims: [], heads: [.main: 1, tag: 1], outcome: .ignored,
                updates: 0),
            Case(
                testDescription: "deletion of what never was", claims: [(.line, 1, nil)], heads: [.main: 1, tag: 1],
                outcome: .ignored, updates: 0),
        ]

        @Test(arguments: cases)
        func testThatEachGetsItsOutcome(example: Case) async throws {
            try await withStore { fixture in
                // given
                try await fixture.scan([.main: commit(1), Self.tag: commit(1)])
                let claims = try example.claims.map {
                    RefClaim(ref: $0.0, before: try $0.1.map(commit), after: try $0.2.map(commit))
                }
                _ = try await fixture.push(claims, id: "d-1")

                // when
                try await fixture.scan(try example.heads.mapValues(commit))

                // then
                let delivery = try #require(try await fixture.store.deliveries().items.first)
                #expect(delivery.outcome == example.outcome)
                #expect(delivery.refUpdates.count == example.updates)
                #expect((delivery.reason == nil) == (example.outcome == .integrated))
            }
        }

        @Test func testThatAnOlderPushThatArrivesLateIsSuperseded() async throws {
            try await withStore { fixture in
                for number in [1, 2, 3] { try await fixture.scan([.main: commit(number)]) }
                _ = try await fixture.push([RefClaim(ref: .main, before: commit(1), after: commit(2))], id: "late")
                let outcome = try await fixture.scan([.main: commit(3)])
                #expect(outcome.integrations == [])
                let delivery = try #require(try await fixture.store.deliveries().items.first)
                #expect(delivery.outcome == .superseded)
                #expect(delivery.refUpdates.map(\.generation) == [2])
            }
        }

        @Test func testThatTwoPushesFoundTogetherAreOneIntegration() async throws {
            try await withStore { fixture in
                // given
                try await fixture.scan([.main: commit(1)])
                _ = try await fixture.push([RefClaim(ref: .main, before: commit(1), after: commit(2))], id: "d-1")
                _ = try await fixture.push([RefClaim(ref: .main, before: commit(2), after: commit(3))], id: "d-2")

                // when
                let outcome = try await fixture.scan([.main: commit(3)])

                // then
                #expect(outcome.integrations.count == 1)
                let deliveries = try await fixture.store.deliveries().items
                #expect(deliveries.map(\.outcome) == [.integrated, .coalesced])
                #expect(
                    deliveries.map { $0.refUpdates.flatMap(\.integrations) } == [
                        outcome.integrations, outcome.integrations,
                    ])
            }
        }
    }
}
