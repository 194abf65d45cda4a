import Basics
import Model
import TestSupport
import Testing

@testable import Storage

@Suite struct StorePausesTests {
    private static let boots = (
        first: MachineBoot(id: "11111111-1111-1111-1111-111111111111"),
        second: MachineBoot(id: "22222222-2222-2222-2222-222222222222")
    )

    private static func pause(_ scope: Pause.Scope, reason: String? = "why", at seconds: Int64 = 1) -> Pause {
        Pause(scope, reason: reason, person: "ann", at: time(seconds))
    }

    @Test(
        .proves(
            .intake,
            "`martlet pause` holds the service or one bot with reason and user, also after a restart, until `martlet resume`"
        ))
    func testThatAPauseIsStoredUntilItIsEnded() async throws {
        try await withStore { fixture in
            // given
            let kit = try name("kit")
            try await fixture.store.pause(Self.pause(.bot(kit)))
            try await fixture.store.pause(Self.pause(.service, reason: nil))
            // when
            try await fixture.store.pause(Self.pause(.bot(kit), reason: "another", at: 2))
            // then: as the next daemon reads it, too
            let next = try Store.open(path: fixture.path)
            for store in [fixture.store, next] {
                let pauses = try await store.pauses()
                #expect(
                    pauses.all == [Self.pause(.service, reason: nil), Self.pause(.bot(kit), reason: "another", at: 2)])
                #expect(pauses.holding(kit) == pauses.service)
            }
            try next.close()
            // when
            #expect(try await fixture.store.resume(.service))
            // then
            let pauses = try await fixture.store.pauses()
            #expect(pauses.holding(kit)?.reason == "another")
            #expect(pauses.holding(try name("other")) == nil)
            #expect(try await fixture.store.resume(.bot(kit)))
            #expect(try await fixture.store.pauses() == Pauses())
            #expect(try await fixture.store.resume(.bot(kit)) == false)
        }
    }

    @Test(.proves(.intake, "A drain ends with the first start after a restart of the machine, and not with one before"))
    func testThatADrainEndsWithAnotherBoot() async throws {
        try await withStore { fixture in
            // given
            try await fixture.store.pause(Self.pause(.drain), boot: Self.boots.first)
            try await fixture.store.pause(Self.pause(.service), boot: Self.boots.first)
            // when, then
            #expect(try await fixture.store.endDrain(before: Self.boots.first) == false)
            #expect(try await fixture.store.pauses().drain != nil)
            #expect(try await fixture.store.endDrain(before: Self.boots.second))
            #expect(try await fixture.store.pauses().all == [Self.pause(.service)])
        }
    }

    @Test func testThatADrainOfAnUnknownBootEndsWithTheNextStart() async throws {
        try await withStore { fixture in
            for (drained, started) in [
                (MachineBoot(id: nil), Self.boots.first), (Self.boots.first, MachineBoot(id: nil)),
            ] {
                try await fixture.store.pause(Self.pause(.drain), boot: drained)
                #expect(try await fixture.store.endDrain(before: started))
                #expect(try await fixture.store.pauses().drain == nil)
            }
        }
    }

    @Test(.proves(.badInput, "A pause of an unknown bot, or with a reason over 1,000 bytes, is refused"))
    func testThatAWrongPauseIsRefused() async throws {
        try await withStore { fixture in
            await expectFailure(.notFound, "no bot nobody") {
                try await fixture.store.pause(Self.pause(.bot(try name("nobody"))))
            }
            for reason in ["", String(repeating: "x", count: 1001)] {
                await expectFailure(.tooLarge, "1 to 1000 bytes") {
                    try await fixture.store.pause(Self.pause(.service, reason: reason))
                }
            }
            let left = try await fixture.store.pauses()
            #expect(left == Pauses())
        }
    }
}
