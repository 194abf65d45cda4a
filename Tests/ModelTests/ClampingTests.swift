import Model
import TestSupport
import Testing

/// No number can end the process.
@Suite struct ClampingTests {
    @Test(
        .proves(.intake, "No number from outside ends the process"),
        arguments: [
            (0.9, 0), (-0.9, 0), (1e300, Int.max), (-1e300, .min), (.infinity, .max), (-.infinity, .min), (.nan, 0),
            (9.3e18, .max), (-9.3e18, .min), (-9_223_372_036_854_775_808, .min), (42.7, 42),
        ] as [(Double, Int)])
    func testThatAFractionBecomesTheNearestWholeNumber(_ value: Double, _ expected: Int) {
        #expect(Int(clamping: value) == expected)
    }

    @Test(.proves(.intake, "No number from outside ends the process"))
    func testThatMomentsStayBetweenTheFirstAndTheLast() {
        let (first, last) = (Timestamp(millisecondsSinceEpoch: .min), Timestamp(millisecondsSinceEpoch: .max))
        #expect(last + .seconds(1) == last)
        #expect(first + .seconds(-1) == first)
        #expect(last - first == .milliseconds(Int64.max))
        #expect(first - last == .milliseconds(Int64.min))
        #expect(Timestamp(millisecondsSinceEpoch: 0) + .seconds(Int64.max) == last)
        #expect(Timestamp(millisecondsSinceEpoch: 5) + .milliseconds(-5) == Timestamp(millisecondsSinceEpoch: 0))
    }

    /// The arguments are not durations, because the testing library ends the process when it encodes those.
    @Test(arguments: [Int64.max, .min]) func testThatALongDurationHasMilliseconds(_ seconds: Int64) {
        #expect(Duration.seconds(seconds).milliseconds == seconds)
    }

    @Test(arguments: [
        (Int64.min, "Thu, 01 Jan 1970 00:00:00 GMT"), (-1, "Thu, 01 Jan 1970 00:00:00 GMT"),
        (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"), (.max, "Fri, 31 Dec 9999 23:59:59 GMT"),
    ])
    func testThatADateOfAHeaderIsOneThatCanBeWritten(_ seconds: Int64, _ expected: String) {
        #expect(HTTPDate.text(seconds) == expected)
    }
}
