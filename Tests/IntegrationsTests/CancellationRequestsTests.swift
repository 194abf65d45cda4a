import Basics
import BotSupport
import Execution
import Model
import TestSupport
import Testing

@testable import Integrations
@testable import Jobs

/// Cancellation requests that are stored for the next daemon. They are only read if an earlier daemon can have stored one.
@Suite(
    .proves(
        .jobs,
        "Nobody looks for a cancellation request what was queued since the start, but for one that was stored since"))
struct CancellationRequestsTests {
    private static let id = IntegrationID(bot: Name(nearest: "kit"), number: 7)
    private static let cancelRequest = Cancellation.Request(reason: "ada wants it", grace: .seconds(3))

    @Test func testThatAnotherDaemonsIsFoundOfAnOldIntegrationAndNotLookedForOfANewOne() async throws {
        try await withTemporaryDirectory { directory in
            // given
            let state = StateDirectory(path: directory.path("state"))
            try state.create()
            try await CancellationRequests(state: state).store(Self.cancelRequest, for: Self.id, run: 1)

            // when
            let cancellationRequests = CancellationRequests(state: state)
            let (old, new) = (
                await cancellationRequests.request(for: Self.id, run: 1),
                await cancellationRequests.request(for: Self.id, run: 1, isNew: true)
            )

            // then
            #expect(old == Self.cancelRequest)
            #expect(new == nil)
        }
    }

    @Test func testThatItsOwnIsFoundOfANewIntegrationAndOfThatRunAlone() async throws {
        try await withTemporaryDirectory { directory in
            // given
            let state = StateDirectory(path: directory.path("state"))
            try state.create()
            let cancellationRequests = CancellationRequests(state: state)

            // when
            try await cancellationRequests.store(Self.cancelRequest, for: Self.id, run: 1)

            // then
            #expect(await cancellationRequests.request(for: Self.id, run: 1, isNew: true) == Self.cancelRequest)
            #expect(await cancellationRequests.request(for: Self.id, run: 2, isNew: true) == nil)
        }
    }
}
