import Model
import TestSupport
import Testing

@Suite struct TestTallyTests {
    @Test(
        .proves(.web, "One count everywhere: \"400 tests in 3 configurations, 4 fail, 1 skipped\""),
        arguments: [
            (400, 3, 4, 0, 1, "400 tests in 3 configurations, 4 fail, 1 skipped"),
            (1, 1, 1, 0, 0, "1 test, 1 fails"),
            (1197, 2, 0, 2, 0, "1,197 tests in 2 configurations, 2 flaky"),
            (0, 1, 0, 0, 0, "0 tests"),
        ])
    func testThatASentenceSaysWhatIsNotZero(
        _ tests: Int, _ configurations: Int, _ failing: Int, _ flaky: Int, _ skipped: Int, _ sentence: String
    ) {
        let tally = TestTally(
            tests: tests, configurations: configurations, failing: failing, flaky: flaky, skipped: skipped)
        #expect(tally.sentence == sentence)
    }

    @Test func testThatEachTestCountsOnce() {
        // given
        var tally = TestTally()
        // when
        tally.add([.passed, .passed])
        tally.add([.failed, .crashed])
        tally.add([.flaky, .failed])
        tally.add([.flaky, .passed])
        tally.add([.skipped, nil])
        tally.add([.skipped, .passed])
        // then
        #expect(tally == TestTally(tests: 6, configurations: 0, failing: 2, flaky: 1, skipped: 1))
    }

    @Test(arguments: [
        (0, "0"), (999, "999"), (1000, "1,000"), (12_345_678, "12,345,678"), (-1234, "\u{2212}1,234"),
        (Int.max, "9,223,372,036,854,775,807"), (Int.min, "\u{2212}9,223,372,036,854,775,808"),
    ])
    func testThatDigitsAreGrouped(_ number: Int, _ text: String) {
        #expect(number.grouped == text)
    }
}
