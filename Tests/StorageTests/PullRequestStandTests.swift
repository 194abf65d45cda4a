import Model
import TestSupport
import Testing

@testable import Storage

/// The same events have the same result in any order.
@Suite(
    .proves(
        .intake, "Pull requests: what an event tells of them is a claim, by each forge's form, in the forge's order"))
struct PullRequestStandTests {
    private static let next = RefName(branch: "next")
    private static let first = PullRequestStand(base: .main, isOpen: true, toldAt: 100_000, rank: 0)

    private static func orders<Item>(_ items: [Item]) -> [[Item]] {
        guard items.count > 1 else { return [items] }
        return items.indices.flatMap { index in
            var rest = items
            let item = rest.remove(at: index)
            return orders(rest).map { [item] + $0 }
        }
    }

    private static func end(_ claims: [PullRequestClaim]) -> PullRequestStand {
        claims.reduce(first) { $0.after($1) ?? $0 }
    }

    @Test(arguments: [
        // closed and opened again within a second, as users do to build it again
        (
            [(200, RefName.main, false, PullRequestClaim.Change.closed), (200, .main, true, .reopened)], true,
            RefName.main
        ),
        // pushed to and closed
        ([(200, .main, true, .updated), (200, .main, false, .closed), (199, .main, true, .reopened)], false, .main),
        // retargeted, and an event of the same second without the new base
        ([(200, .main, true, .updated), (200, next, true, .updated), (200, .main, true, .updated)], true, next),
        // an older closing, and an older base
        ([(200, next, true, .updated), (150, .main, false, .closed), (160, .main, true, .updated)], true, next),
        ([(200, .main, false, .closed), (201, .main, true, .reopened), (202, .main, false, .closed)], false, .main),
    ])
    func testThatTheOrderOfArrivalDoesNotMatter(
        _ events: [(Int64, RefName, Bool, PullRequestClaim.Change)], _ isOpen: Bool, _ base: RefName
    ) throws {
        let claims = try events.map { event in
            try StoreFixture.claim(base: event.1, isOpen: event.2, at: event.0, event.3)
        }
        for order in Self.orders(claims) {
            let end = Self.end(order)
            #expect(end.isOpen == isOpen && end.base == base, "\(order.map { ($0.toldAt, $0.change) })")
        }
    }

    @Test func testThatAnEventWithoutATimeCountsAsToldNowAndForgetsNone() throws {
        // given: closed at 200, and opened by an event without a time
        let closed = Self.end([try StoreFixture.claim(isOpen: false, at: 200, .closed)])
        let opened = try #require(closed.after(try StoreFixture.claim(at: nil, .reopened)))
        #expect(opened.isOpen)

        // when, then: events from before, and of the same second, have no effect
        #expect(opened.after(try StoreFixture.claim(isOpen: false, at: 150, .closed)) == nil)
        #expect(opened.after(try StoreFixture.claim(isOpen: false, at: 200, .closed)) == nil)
        #expect(opened.after(try StoreFixture.claim(isOpen: false, at: 201, .closed))?.isOpen == false)
    }
}
