import Model
import TestSupport
import Testing

@testable import Reports

@Suite struct TestMergeTests {
    private func result(
        _ suite: String, _ name: String, _ outcome: TestResult.Outcome, _ message: String? = nil
    ) -> TestResult {
        TestResult(suite: suite, name: name, outcome: outcome, message: message)
    }

    @Test func testThatNoTestIsThereTwice() throws {
        // given: all outputs of one `swift test`, in which both libraries crash
        let log = try Samples.bytes("test-both-crash.txt")
        let events = EventStreamReader.read(try Samples.bytes("events-6.3-crash.jsonl"), root: Samples.root)
        let console = XCTestConsoleReader.tests(in: log, root: Samples.root)
        let unit = JUnitReader.read(try Samples.bytes("xunit-parallel-crash.xml"), root: Samples.root)
        // when
        let merged = TestMerge.merge([events.tests, console, unit.tests], end: CommandEnd(exit: 1, console: log))
        // then: they are as many as `swift test list` lists, and the process
        #expect(merged.count == (try Samples.lines("list.txt").count) + 1)
        #expect(Set(merged.map(\.fullName)).count == merged.count)
        #expect(try test("testB", in: merged).suite == "ATests.XTests", "the module comes from the xUnit file")
        #expect(try test("testB", in: merged).message?.hasPrefix("XCTAssertEqual failed") == true)
        #expect(try test("testS", in: merged).outcome == .skipped, "the xUnit file says passed")
        #expect(try test("crash()", in: merged).outcome == .skipped)
        #expect(
            try test("(process)", in: merged).message?.hasPrefix(
                "ended by signal 4 (SIGILL): Fatal error: Index out of range\n6 tests were running") == true)
    }

    private func report(_ text: String) -> ReportContent {
        ReportReader.read(Array(text.utf8), fileName: "a.xml", root: Samples.root)
    }

    private static func suite(_ cases: String) -> String { "<testsuite name='S' failures='0'>\(cases)</testsuite>" }
    private static func passing(_ name: String, time: String) -> String {
        "<testcase classname='S' name='\(name)' time='\(time)'/>"
    }

    @Test func testThatFilesOfOneFormatTellOfDifferentTests() {
        // given: the same names under two versions of Python, of which one fails
        let good = report(Self.suite("<testcase classname='S' name='a'/><testcase classname='S' name='b'/>"))
        let bad = report(
            "<testsuite name='S'><testcase classname='S' name='a'/><testcase classname='S' name='b'><failure/></testcase></testsuite>"
        )
        // when
        let merged = TestMerge.merge(reports: [good, bad], consoles: [])
        // then
        #expect(
            merged.map { "\($0.name) \($0.outcome.rawValue)" } == [
                "a passed", "b passed", "a (2) passed", "b (2) failed",
            ])
    }

    @Test func testThatEqualFilesAreTwo() {
        let file = report(Self.suite(Self.passing("a", time: "1") + Self.passing("b", time: "2")))
        #expect(TestMerge.merge(reports: [file, file, file], consoles: []).count == 6)
    }

    @Test func testThatAFileThatGathersOthersIsNotCountedTwice() {
        // given: two files, and one with all their tests
        let (a, b) = (Self.passing("a", time: "1.5"), Self.passing("b", time: "2.5"))
        let files = [report(Self.suite(a)), report(Self.suite(b)), report(Self.suite(a + b))]
        // then
        #expect(TestMerge.merge(reports: files, consoles: []).map(\.name) == ["a", "b"])
    }

    @Test func testThatFilesOfDifferentFormatsAndConsolesTellOfTheSameTests() {
        // given
        let junit = report(Self.suite("<testcase classname='' name='a'/>"))
        let tap = report("1..1\nnot ok 1 - a\n")
        // when
        let merged = TestMerge.merge(
            reports: [junit, tap], consoles: [[result("", "a", .passed)]])
        // then
        #expect(merged.map { "\($0.fullName) \($0.outcome.rawValue)" }.filter { $0 == "a failed" } == ["a failed"])
    }

    @Test func testThatOverloadsAreNotMixedUp() throws {
        let events = EventStreamReader.read(try Samples.bytes("events-0.jsonl"), root: Samples.root)
        let unit = JUnitReader.read(try Samples.bytes("xunit-swift-testing.xml"), root: Samples.root)
        let merged = TestMerge.merge([events.tests, unit.tests])
        #expect(TestCounts(of: merged) == .init(9, failed: 1, skipped: 2, known: 1))
    }

    @Test func testThatTheWorstOutcomeWins() {
        let outcomes: [TestResult.Outcome] = [.passed, .skipped, .knownIssue, .flaky, .failed, .crashed]
        for (rank, worse) in outcomes.enumerated() {
            for better in outcomes[...rank] {
                for sources in [[worse, better], [better, worse]] {
                    let merged = TestMerge.merge(sources.map { [result("S", "t", $0)] })
                    #expect(merged.map(\.outcome) == [worse])
                }
            }
        }
    }

    @Test func testThatABareClassIsJoinedOnlyWhereItIsPlain() {
        let bare = result("A", "t", .failed, "why")
        #expect(
            TestMerge.merge([[bare], [result("M.A", "t", .failed, "failure")]]).map { [$0.suite, $0.message] }
                == [["M.A", "why"]])
        #expect(TestMerge.merge([[bare], [result("M.A", "t", .passed), result("N.A", "t", .passed)]]).count == 3)
        #expect(TestMerge.merge([[result("M.A", "t", .passed)], [bare]]).map(\.outcome) == [.failed])
    }

    @Test(arguments: [
        (CommandEnd(exit: nil, signal: 11), "ended by signal 11 (SIGSEGV)"),
        (CommandEnd(exit: 134), "ended by signal 6 (SIGABRT)"), (CommandEnd(exit: 1), "started and never ended"),
        (CommandEnd(exit: nil, signal: 9, limit: "timeout 30 min"), "still running at the limit: timeout 30 min"),
    ])
    func testThatACrashSaysHowItEnded(end: CommandEnd, message: String) {
        #expect(TestMerge.merge([[result("S", "t", .crashed)]], end: end).first?.message == message)
    }
}

@Suite struct TestVerdictTests {
    private let passed = TestResult(suite: "S", name: "t", outcome: .passed)
    private let failed = TestResult(suite: "S", name: "u", outcome: .failed)

    @Test func testThatAllGoodIsGreen() {
        let verdict = TestVerdict(end: CommandEnd(), tests: [passed])
        #expect(verdict.verdict == .succeeded)
        #expect(verdict.reason == nil)
        #expect(verdict.notes == [])
    }

    @Test(arguments: [
        CommandEnd(exit: 1), CommandEnd(exit: nil, signal: 9), CommandEnd(exit: nil), CommandEnd(limit: "timeout"),
    ])
    func testThatItIsNeverGreenWhenTheCommandFailed(end: CommandEnd) {
        let verdict = TestVerdict(end: end, tests: [passed])
        #expect(verdict.verdict == .testFailures)
        #expect(verdict.reason?.hasPrefix("failed without any failing test: ") == true)
    }

    @Test func testThatAFailedTestIsRedAlthoughTheCommandSucceeded() {
        let verdict = TestVerdict(end: CommandEnd(), tests: [passed, failed])
        #expect(verdict.verdict == .testFailures)
        #expect(verdict.reason == "1 of 2 tests failed")
    }

    @Test(
        .proves(.reports, "Never green by absence: unreadable reports, no tests after some, a command without a report")
    )
    func testThatAnUnreadableReportIsNeverGreen() {
        let verdict = TestVerdict(end: CommandEnd(), tests: [passed], problems: ["report unreadable: a.xml: line 1"])
        #expect(verdict.verdict == .testFailures)
        #expect(verdict.reason == "report unreadable: a.xml: line 1")
    }

    @Test func testThatNoTestsAreSaid() {
        #expect(TestVerdict(end: CommandEnd(), tests: []).notes == ["0 tests"])
        #expect(TestVerdict(end: CommandEnd(), tests: [], previousTests: 12).notes == ["0 tests, before there were 12"])
        // The note that only the exit status counts is made once.
        #expect(TestVerdict(end: CommandEnd(), tests: [], hasReport: false).notes == [])
    }
}
