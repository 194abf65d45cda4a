import TestSupport
import Testing

@testable import Basics

/// Work is attributed to its request on any thread.
@Suite struct AnsweringThreadTests {
    @Test(.proves(.intake, "A trap while a request is answered counts against that request alone (W16)"))
    func testThatAQueueTakesItOverFromItsCallerAndGivesItBack() async {
        // given
        let (queue, queues) = (SerialQueue(label: "answer"), SerialQueues(label: "answers", count: 1))
        func found() async -> [Bool] {
            [
                AnsweringThread.isCurrent, await queue.run { AnsweringThread.isCurrent },
                await queues.run { AnsweringThread.isCurrent },
            ]
        }
        // when, then
        #expect(await found() == [false, false, false])
        await AnsweringThread.$isAnswering.withValue(true) { #expect(await found() == [true, true, true]) }
        #expect(await found() == [false, false, false])
    }

    @Test func testThatATaskOfARequestIsOne() async {
        let (inner, unrelated) = await AnsweringThread.$isAnswering.withValue(true) {
            async let child = AnsweringThread.isCurrent
            let apart = AnsweringThread.$isAnswering.withValue(false) { AnsweringThread.isCurrent }
            return (await child, apart)
        }
        #expect(inner)
        #expect(!unrelated)
    }

    @Test func testThatWorkForACallerElsewhereIsMarkedForItsTimeAlone() {
        #expect(AnsweringThread.working(isAnswer: true) { AnsweringThread.isCurrent })
        let nested = AnsweringThread.working(isAnswer: true) {
            [AnsweringThread.working(isAnswer: false) { AnsweringThread.isCurrent }, AnsweringThread.isCurrent]
        }
        #expect(nested == [false, true])
        #expect(!AnsweringThread.isCurrent)
    }
}
