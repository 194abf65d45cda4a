import Model
import TestSupport
import Testing

@Suite struct TestSpreadTests {
    /// The outcomes in debug, release and nightly, and the resulting text.
    static let three: [([TestResult.Outcome?], String)] = [
        ([.passed, .passed, .passed], "passes everywhere"),
        ([.passed, .failed, .passed], "fails only in release"),
        ([.failed, .passed, .failed], "passes only in release"),
        ([.failed, .flaky, .crashed], "passes only in release; flaky only in release"),
        ([.failed, .failed, .failed], "fails everywhere"),
        ([.crashed, .crashed, .crashed], "crashes everywhere"),
        ([.failed, .crashed, nil], "fails in debug and release; not run in nightly"),
        ([.crashed, .passed, .skipped], "crashes only in debug; skipped in nightly"),
        ([.flaky, .flaky, .flaky], "flaky everywhere"),
        ([.passed, .flaky, .passed], "flaky only in release"),
        ([.passed, .passed, nil], "not run in nightly"),
        ([nil, nil, nil], "not run"),
        ([.skipped, .skipped, .skipped], "skipped everywhere"),
        ([.skipped, .passed, .skipped], "skipped in debug and nightly"),
        ([.knownIssue, .passed, .passed], "a known issue only in debug"),
    ]

    @Test(.proves(.testHistory, "The grid tests × configurations says \"fails only in release\""), arguments: three)
    func testThatItSaysWhere(_ outcomes: [TestResult.Outcome?], _ sentence: String) {
        let names = ["debug", "release", "nightly"].map { Name(nearest: $0) }
        #expect(TestSpread(suite: "", name: "a", outcomes: outcomes).sentence(names) == sentence)
    }

    @Test func testThatOfTwoTheOneThatFailsIsSaid() {
        let names = ["debug", "release"].map { Name(nearest: $0) }
        #expect(
            TestSpread(suite: "", name: "a", outcomes: [.passed, .failed]).sentence(names) == "fails only in release")
        #expect(
            TestSpread(suite: "", name: "a", outcomes: [.failed, nil]).sentence(names)
                == "fails only in debug; not run in release")
    }

    @Test func testThatAloneNothingIsOnly() {
        #expect(TestSpread(suite: "", name: "a", outcomes: []).sentence([]) == "not run")
        #expect(
            TestSpread(suite: "", name: "a", outcomes: [.failed]).sentence([Name(nearest: "debug")]) == "fails in debug"
        )
    }

    @Test func testThatWhatMattersComesFirst() {
        let rows: [[TestResult.Outcome?]] = [
            [.passed, .crashed], [.flaky, .passed], [.passed, nil], [.skipped, .skipped], [.passed, .passed],
        ]
        #expect(rows.map { TestSpread(suite: "", name: "a", outcomes: $0).rank } == [0, 1, 2, 3, 4])
    }
}

@Suite struct DurationFiguresTests {
    @Test func testThatNothingComesOfNothing() {
        #expect(DurationFigures([]) == nil)
    }

    @Test func testThatMedianAndP95AreOfAll() throws {
        let figures = try #require(DurationFigures((1...100).map { .milliseconds($0) }))
        #expect(figures.count == 100)
        #expect(figures.median == .milliseconds(50))
        #expect(figures.p95 == .milliseconds(95))
        let one = try #require(DurationFigures([.seconds(2)]))
        #expect((one.median, one.p95) == (.seconds(2), .seconds(2)))
        #expect(one.trend == nil)
    }

    @Test(.proves(.testHistory, "Per test: history, last failures, durations, on which configurations"))
    func testThatTheTrendIsTheNewestQuarterAgainstTheOthers() throws {
        let slower =
            Array(repeating: Duration.milliseconds(15), count: 5) + Array(repeating: .milliseconds(10), count: 15)
        #expect(try #require(DurationFigures(slower)?.trend) == 0.5)
        #expect(try #require(DurationFigures(slower.reversed())?.trend) == 0)
        #expect(DurationFigures(Array(repeating: .zero, count: 20))?.trend == nil)
    }
}
