import Basics
import TestSupport
import Testing

@Suite struct SerialQueueTests {
    private struct Failure: Error, Equatable { let number: Int }

    @Test func testThatItNeverRunsTwoBodiesAtOnce() async {
        // given
        let queue = SerialQueue(label: "test")
        let running = Locked((now: 0, most: 0, total: 0))
        // when
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<200 {
                group.addTask {
                    await queue.run {
                        running.withLock {
                            $0.now += 1
                            $0.most = max($0.most, $0.now)
                            $0.total += 1
                        }
                        running.withLock { $0.now -= 1 }
                    }
                }
            }
        }
        // then
        let (_, most, total) = running.value
        #expect(most == 1)
        #expect(total == 200)
    }

    @Test func testThatItThrowsWhatTheBodyThrows() async {
        let queue = SerialQueue(label: "test")
        await #expect(throws: Failure(number: 7)) {
            try await queue.run { () throws(Failure) in throw Failure(number: 7) }
        }
    }

    /// An object that counts its living instances.
    private final class Held: Sendable {
        private let there: Locked<Int>

        init(_ there: Locked<Int>) {
            self.there = there
            there.withLock { $0 += 1 }
        }

        deinit { there.withLock { $0 -= 1 } }

        /// Returns a body that alone holds such an object.
        static func body(_ there: Locked<Int>) -> @Sendable () -> Int {
            let held = Held(there)
            return { held.there.value }
        }
    }

    /// For memory a later release would suffice, for descriptors not. The test repeats this, because a late release happens by chance.
    @Test func testThatWhatTheBodyAloneHeldIsGoneWhenItHasRun() async {
        // given
        let queue = SerialQueue(label: "test")
        let there = Locked(0)
        for _ in 0..<2000 {
            // when
            let during = await queue.run(Held.body(there))
            // then
            #expect((during, there.value) == (1, 0))
        }
    }

    @Test func testThatOneQueueDoesNotHoldUpAnother() async {
        // given: a body that ends only after one on another queue has run
        let gate = Gate()
        async let first: Void = SerialQueue(label: "first").run { gate.wait() }
        // when
        await SerialQueue(label: "second").run { gate.open() }
        // then
        await first
    }
}
