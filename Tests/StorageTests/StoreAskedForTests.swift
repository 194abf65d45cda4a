import Model
import TestSupport
import Testing

@testable import Storage

/// An integration that a user asked for before a scan saw the push.
@Suite(
    .proves(
        .intake,
        "What a user asks for before a scan sees the push is one integration: the scan makes it that of the push"))
struct StoreAskedForTests {
    /// Queues `number` for the branch main at a time, in seconds.
    private func ask(_ fixture: StoreFixture, _ number: Int, at seconds: Int64) async throws -> IntegrationID {
        try await fixture.store.queue(
            NewIntegration(
                bot: name("kit"), ref: .main, commit: commit(number), cause: .person, requestedBy: "ann"),
            at: time(seconds)
        ).id
    }

    private func numbers(_ fixture: StoreFixture) async throws -> [Int] {
        try await fixture.store.integrations().items.map(\.id.number).sorted()
    }

    @Test func testThatTheScanMakesItThatOfThePush() async throws {
        try await withStore { fixture in
            // given
            try await fixture.scan([.main: commit(1)], at: 100)
            let asked = try await ask(fixture, 2, at: 110)
            // when
            let outcome = try await fixture.scan([.main: commit(2)], at: 120)
            // then
            #expect(outcome.integrations == [])
            #expect(outcome.refUpdates.map(\.outcome) == [.integrated])
            #expect(try await numbers(fixture) == [1, 2])
            #expect(asked.number == 2)
            // A later push is integrated, and so is the same commit after it.
            #expect(try await fixture.scan([.main: commit(3)], at: 130).integrations.count == 1)
            #expect(try await fixture.scan([.main: commit(2)], at: 140).integrations.count == 1)
        }
    }

    @Test(arguments: [Verdict.canceled, .internalError, .checkoutError])
    func testThatOneThatJudgedNothingIsNotCounted(verdict: Verdict) async throws {
        try await withStore { fixture in
            try await fixture.scan([.main: commit(1)], at: 100)
            let asked = try await ask(fixture, 2, at: 110)
            try await fixture.store.apply(.started, to: asked, at: time(111))
            try await fixture.store.apply(
                .completed(verdict, triggerFailed: false), to: asked, at: time(112), reason: "no")
            #expect(try await fixture.scan([.main: commit(2)], at: 120).integrations.count == 1)
        }
    }

    @Test func testThatOneBeforeTheMovementBeforeIsNotCounted() async throws {
        try await withStore { fixture in
            // given: an earlier commit of the branch was asked for, and the branch moved on
            try await fixture.scan([.main: commit(1)], at: 100)
            _ = try await ask(fixture, 2, at: 110)
            try await fixture.scan([.main: commit(3)], at: 120)
            // when
            let outcome = try await fixture.scan([.main: commit(2)], at: 130)
            // then
            #expect(outcome.integrations.count == 1)
            #expect(try await fixture.damage() == [])
        }
    }
}
