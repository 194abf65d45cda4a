import Basics
import TestSupport
import Testing

@Suite struct SerialQueuesTests {
    private struct Failure: Error, Equatable { let number: Int }

    @Test func testThatItThrowsWhatTheBodyThrows() async {
        let queues = SerialQueues(label: "test", count: 2)
        await #expect(throws: Failure(number: 7)) {
            try await queues.run { () throws(Failure) in throw Failure(number: 7) }
        }
    }

    @Suite(.proves(.jobs, "The database is read on one thread, without a way through a second"))
    struct GivenAQueueThatIsHeldUp {
        @Test func testThatAnotherRunsWhatComes() async {
            // given: a body that ends only after three others have run
            let queues = SerialQueues(label: "test", count: 2)
            let gate = Gate()
            async let first: Void = queues.run { gate.wait() }
            // when
            for _ in 0..<3 { await queues.run {} }
            gate.open()
            // then
            await first
        }

        /// The bodies run one after the other, so there are no more queues than configured.
        @Test func testThatWhoHasWaitedLongestIsNext() async {
            // given
            let queues = SerialQueues(label: "test", count: 1)
            let (gate, order) = (Gate(), Locked([Int]()))
            await withTaskGroup(of: Void.self) { group in
                group.addImmediateTask { await queues.run { gate.wait() } }
                // when
                for number in 0..<20 {
                    group.addImmediateTask { await queues.run { order.withLock { $0.append(number) } } }
                }
                gate.open()
            }
            // then
            #expect(order.value == Array(0..<20))
        }
    }
}
