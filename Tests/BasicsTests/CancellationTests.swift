import Basics
import Model
import TestSupport
import Testing

@Suite struct CancellationTests {
    @Test(.proves(.jobs, "Cancel, with its reason"))
    func testThatItStopsWhatRunsOnceWithTheFirstReason() async {
        // given
        let cancellation = Cancellation()
        let stops = Locked<[String]>([])

        // when
        await cancellation.whileCancellable(stop: { cancelRequest in stops.withLock { $0.append(cancelRequest.reason) }
        }) {
            await cancellation.request(.init(reason: "canceled by ada"))
            await cancellation.request(.init(reason: "canceled by bob"))
        }

        // then
        #expect(stops.value == ["canceled by ada"])
        #expect(await cancellation.requested == .init(reason: "canceled by ada", grace: .seconds(10)))
    }

    @Test(.proves(.jobs, "A later request can only shorten the grace"))
    func testThatALaterRequestCanOnlyBeMoreImpatient() async {
        // given
        let cancellation = Cancellation()
        let stops = Locked<[Cancellation.Request]>([])

        // when
        await cancellation.whileCancellable(stop: { cancelRequest in stops.withLock { $0.append(cancelRequest) } }) {
            await cancellation.request(.init(reason: "superseded", grace: .seconds(600)))
            await cancellation.request(.init(reason: "canceled by ada", grace: .zero))
            await cancellation.request(.init(reason: "canceled by bob", grace: .seconds(10)))
        }

        // then
        let cancellationRequests = [
            Cancellation.Request(reason: "superseded", grace: .seconds(600)), .init(reason: "superseded", grace: .zero),
        ]
        #expect(stops.value == cancellationRequests)
        #expect(await cancellation.requested == cancellationRequests[1])
    }

    @Test func testThatItStopsAtOnceWhatBeginsLater() async {
        // given
        let cancellation = Cancellation()
        let stops = Locked<[String]>([])
        await cancellation.request(.init(reason: "enough"))

        // when
        await cancellation.whileCancellable(stop: { cancelRequest in stops.withLock { $0.append(cancelRequest.reason) }
        }) {}

        // then
        #expect(stops.value == ["enough"])
    }

    @Test func testThatItDoesNotStopWhatHasEnded() async {
        // given
        let cancellation = Cancellation()
        let stops = Locked<[String]>([])
        await cancellation.whileCancellable(stop: { cancelRequest in stops.withLock { $0.append(cancelRequest.reason) }
        }) {}

        // when
        await cancellation.request(.init(reason: "late"))

        // then
        #expect(stops.value == [])
    }

    @Test func testThatItStopsEverythingThatRuns() async {
        // given
        let cancellation = Cancellation()
        let stops = Locked<Set<Int>>([])

        // when
        await cancellation.whileCancellable(stop: { _ in stops.withLock { _ = $0.insert(1) } }) {
            await cancellation.whileCancellable(stop: { _ in stops.withLock { _ = $0.insert(2) } }) {
                await cancellation.request(.init(reason: "all"))
            }
        }

        // then
        #expect(stops.value == [1, 2])
    }

    @Test func testThatItInterruptsWhatWaitsAndAwaitsItsEnd() async throws {
        // given
        let cancellation = Cancellation()
        let hasEnded = Locked(false)
        let clock = ManualClock()

        // when
        async let outcome: Bool? = cancellation.interrupting {
            defer { hasEnded.withLock { $0 = true } }
            try await clock.sleep(for: .seconds(1))
            return true
        }
        await clock.awaitSleepers()
        await cancellation.request(.init(reason: "enough"))

        // then
        #expect(try await outcome == nil)
        #expect(hasEnded.value)
    }

    @Test(.proves(.jobs, "Cancel, with its reason"))
    func testThatWhatIsToBeInterruptedDoesNotBeginAfterTheRequest() async throws {
        // given
        let cancellation = Cancellation()
        let hasBegun = Locked(false)
        await cancellation.request(.init(reason: "enough"))

        // when
        let outcome: Bool? = try await cancellation.interrupting {
            hasBegun.withLock { $0 = true }
            return true
        }

        // then
        #expect(outcome == nil)
        #expect(!hasBegun.value)
    }

    @Test func testThatWhatFailsOfItselfIsNoInterruption() async throws {
        let cancellation = Cancellation()
        await #expect(throws: IllegalTransition.self) {
            try await cancellation.interrupting { throw IllegalTransition(state: "a", event: "b") }
        }
        #expect(try await cancellation.interrupting { 3 } == 3)
    }

    @Test func testThatTheTasksOwnCancellationIsNotTakenForTheRequest() async {
        // given
        let cancellation = Cancellation()
        let clock = ManualClock()
        let task = Task { try await cancellation.interrupting { try await clock.sleep(for: .seconds(1)) } }
        await clock.awaitSleepers()

        // when
        task.cancel()

        // then
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}
