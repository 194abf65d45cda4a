import Basics
import TestSupport
import Testing

@Suite struct BlockingLanesTests {
    private struct Failure: Error, Equatable { let number: Int }

    @Test func testThatItThrowsWhatTheBodyThrows() async {
        let lanes = BlockingLanes(label: "test", count: 2)
        await #expect(throws: Failure(number: 7)) {
            try await lanes.run { () throws(Failure) in throw Failure(number: 7) }
        }
    }

    @Suite struct GivenALaneThatIsHeldUp {
        @Test func testThatAnotherRunsWhatComes() async {
            // given: a body that ends only after three others have run
            let lanes = BlockingLanes(label: "test", count: 2)
            let gate = Gate()
            async let first: Void = lanes.run { gate.wait() }
            // when
            for _ in 0..<3 { await lanes.run {} }
            gate.open()
            // then
            await first
        }

        /// The bodies run one after the other, so there are no more lanes than configured.
        @Test func testThatWhoHasWaitedLongestIsNext() async {
            // given
            let lanes = BlockingLanes(label: "test", count: 1)
            let (gate, order) = (Gate(), Locked([Int]()))
            await withTaskGroup(of: Void.self) { group in
                group.addImmediateTask { await lanes.run { gate.wait() } }
                // when
                for number in 0..<20 {
                    group.addImmediateTask { await lanes.run { order.withLock { $0.append(number) } } }
                }
                gate.open()
            }
            // then
            #expect(order.value == Array(0..<20))
        }
    }
}
