import Integrations
import TestSupport
import Testing

@Suite struct CancellationTests {
    @Test func testThatItStopsWhatRunsOnceWithTheFirstReason() async {
        // given
        let cancellation = Cancellation()
        let stops = Locked<[String]>([])

        // when
        await cancellation.whileCancellable(stop: { reason in stops.withLock { $0.append(reason) } }) {
            await cancellation.request(reason: "canceled by ada")
            await cancellation.request(reason: "canceled by bob")
        }

        // then
        #expect(stops.value == ["canceled by ada"])
        #expect(await cancellation.requested == "canceled by ada")
    }

    @Test func testThatItStopsAtOnceWhatBeginsLater() async {
        // given
        let cancellation = Cancellation()
        let stops = Locked<[String]>([])
        await cancellation.request(reason: "enough")

        // when
        await cancellation.whileCancellable(stop: { reason in stops.withLock { $0.append(reason) } }) {}

        // then
        #expect(stops.value == ["enough"])
    }

    @Test func testThatItDoesNotStopWhatHasEnded() async {
        // given
        let cancellation = Cancellation()
        let stops = Locked<[String]>([])
        await cancellation.whileCancellable(stop: { reason in stops.withLock { $0.append(reason) } }) {}

        // when
        await cancellation.request(reason: "late")

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
                await cancellation.request(reason: "all")
            }
        }

        // then
        #expect(stops.value == [1, 2])
    }
}
