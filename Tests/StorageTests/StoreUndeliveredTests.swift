import Model
import TestSupport
import Testing

@testable import Storage

/// Destinations that do not get their messages.
@Suite(
    .proves(
        .notices,
        "A destination that does not get its messages is shown on the overview and the bot's page, and by `doctor`"))
struct StoreUndeliveredTests {
    private static let place = StoreOutboxTests.place

    private func withReports(_ body: (StoreFixture) async throws -> Void) async throws {
        try await withStore { fixture in
            try await fixture.store.register(
                [
                    BotSpecification(
                        name: name("kit"), repository: StoreFixture.repository, status: StoreOutboxTests.target)
                ], at: time(1))
            try await body(fixture)
        }
    }

    private func settle(_ fixture: StoreFixture, _ settlement: OutboxSettlement, at seconds: Int64) async throws {
        let message = try #require(
            try await fixture.store.takeMessage(for: Self.place, at: time(seconds), horizon: .seconds(3600)))
        try await fixture.store.settle(message, as: settlement, at: time(seconds))
    }

    @Test func testThatItIsTheOneWhoseNewestTriedMessageFailed() async throws {
        try await withReports { fixture in
            // given
            for number in 1...3 { _ = try await fixture.queue(number) }
            #expect(try await fixture.store.undelivered() == [], "nothing was tried yet")
            // when
            try await settle(fixture, .again(at: time(5000), reason: "no route", isUncertain: false), at: 30)
            try await settle(fixture, .givenUp(reason: "401", mayHaveArrived: false), at: 40)
            // then
            let found = try await fixture.store.undelivered()
            #expect(
                found == [
                    UndeliveredMessages(
                        kind: .status, destination: Self.place.name, bots: [try name("kit")], isGivenUp: true,
                        note: "401", since: found.first?.since ?? time(0))
                ])
            // and when a later one is delivered
            try await settle(fixture, .sent(note: "201"), at: 50)
            #expect(try await fixture.store.undelivered() == [])
        }
    }
}
