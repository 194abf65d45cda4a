import BotSupport
import Model
import TestSupport
import Testing

@testable import Integrations

/// Cancellation requests that are stored for the next daemon. They are only read if an earlier daemon can have stored one.
@Suite struct CancelWishesTests {
    private static let id = IntegrationID(bot: Name(nearest: "kit"), number: 7)
    private static let wish = Cancellation.Wish(reason: "ada wants it", grace: .seconds(3))

    @Test func testThatAnotherDaemonsIsFoundOfAnOldIntegrationAndNotLookedForOfANewOne() async throws {
        try await withTemporaryDirectory { directory in
            // given
            let state = StateDirectory(path: directory.path("state"))
            try state.create()
            try await CancelWishes(state: state).store(Self.wish, for: Self.id, run: 1)

            // when
            let wishes = CancelWishes(state: state)
            let (old, new) = (
                await wishes.wish(for: Self.id, run: 1), await wishes.wish(for: Self.id, run: 1, isNew: true)
            )

            // then
            #expect(old == Self.wish)
            #expect(new == nil)
        }
    }

    @Test func testThatItsOwnIsFoundOfANewIntegrationAndOfThatRunAlone() async throws {
        try await withTemporaryDirectory { directory in
            // given
            let state = StateDirectory(path: directory.path("state"))
            try state.create()
            let wishes = CancelWishes(state: state)

            // when
            try await wishes.store(Self.wish, for: Self.id, run: 1)

            // then
            #expect(await wishes.wish(for: Self.id, run: 1, isNew: true) == Self.wish)
            #expect(await wishes.wish(for: Self.id, run: 2, isNew: true) == nil)
        }
    }
}
