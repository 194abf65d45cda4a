import Model
import Storage
import TestSupport
import Testing

@testable import Issues

/// A pass on retry is a warning with the earlier failure.
@Suite struct FlakyTestsTests {
    private static func test(
        _ name: String, _ outcome: TestResult.Outcome, message: String? = nil, line: Int? = nil
    ) -> TestResult {
        TestResult(
            suite: "KitTests", name: name, outcome: outcome, message: message, path: line.map { _ in "Tests/a.swift" },
            line: line)
    }

    private static func marked(
        _ tests: [TestResult], _ verdict: Verdict = .succeeded, reason: String? = nil, after earlier: [[TestResult]]
    ) -> AttemptResults {
        let failures = earlier.enumerated().flatMap { index, tests in
            tests.map { FlakyTests.Failure(attempt: index + 1, result: $0) }
        }
        return FlakyTests(failures).marking(
            AttemptResults(tests: tests, analysis: "clean", tested: "tests", verdict: verdict, reason: reason),
            attempt: earlier.count + 1)
    }

    @Test(
        .proves(
            .testHistory,
            "A pass on retry is *flaky*, never silently green: by a tool's retries, a rerun of all or of some tests, an attempt made again"
        ))
    func testThatAPassAfterAFailureIsFlakyWithTheFailuresMessageAndAttempt() {
        // when
        let results = Self.marked(
            [Self.test("adds", .passed, line: 9), Self.test("subtracts", .passed)],
            after: [[Self.test("adds", .failed, message: "2 is not 3", line: 12)]])
        // then
        #expect(results.tests.map(\.outcome) == [.flaky, .passed])
        #expect(results.tests[0].message == "failed in attempt 1: 2 is not 3")
        #expect(results.tests[0].line == 12)
        #expect(results.verdict == .warnings)
        #expect(results.reason == "1 test is flaky: KitTests/adds")
        #expect(results.findings.map(\.finding.category) == [.warning])
        #expect(results.findings.map(\.finding.rule) == ["flaky: KitTests/adds"])
        #expect(results.counts.warnings == 1)
        #expect(results.counts.flakyTests == 1)
        #expect(results.reportingFlakyTests().tested == "tests, 1 flaky")
    }

    @Test func testThatTheFirstFailureIsTheOneThatIsTold() {
        let results = Self.marked(
            [Self.test("adds", .passed)],
            after: [
                [Self.test("adds", .crashed, message: "signal 11")], [Self.test("adds", .failed, message: "late")],
            ])
        #expect(results.tests[0].message == "crashed in attempt 1: signal 11")
    }

    @Test(
        .proves(
            .testHistory,
            "A pass on retry is *flaky*, never silently green: by a tool's retries, a rerun of all or of some tests, an attempt made again"
        ))
    func testThatWhatWasFlakyStaysSo() {
        let earlier = Self.test("adds", .flaky, message: "failed in attempt 1: 2 is not 3")
        let results = Self.marked([Self.test("adds", .passed)], after: [[], [earlier]])
        #expect(results.tests[0].outcome == .flaky)
        #expect(results.tests[0].message == earlier.message)
    }

    @Test(arguments: [TestResult.Outcome.failed, .crashed, .skipped, .knownIssue])
    func testThatOnlyAPassIsFlaky(_ outcome: TestResult.Outcome) {
        let results = Self.marked([Self.test("adds", outcome)], after: [[Self.test("adds", .failed)]])
        #expect(results.tests.map(\.outcome) == [outcome])
        #expect(results.findings == [])
        #expect(results.verdict == .succeeded)
    }

    @Test(
        .proves(
            .testHistory,
            "A pass on retry is *flaky*, never silently green: by a tool's retries, a rerun of all or of some tests, an attempt made again"
        ), arguments: [TestResult.Outcome?.none, .skipped])
    func testThatATestThatFailedAndDidNotRunAgainIsNotSilentlyGreen(_ outcome: TestResult.Outcome?) {
        // given
        let tests = [Self.test("subtracts", .passed)] + (outcome.map { [Self.test("adds", $0)] } ?? [])
        let earlier = FlakyTests([.init(attempt: 1, result: Self.test("adds", .failed))])
        // when
        let results = earlier.requiring(
            AttemptResults(tests: tests, analysis: "clean", tested: "tests", verdict: .succeeded))
        // then
        #expect(results.verdict == .warnings)
        #expect(
            results.reason
                == "1 test of this commit failed in an earlier attempt and did not run in this one: KitTests/adds")
        #expect(results.findings.map(\.finding.rule) == ["martlet.tests"])
        #expect(results.counts.warnings == 1)
    }

    @Test func testThatNothingIsRequiredOfAnAttemptWhoseTestsRan() {
        let earlier = FlakyTests([.init(attempt: 1, result: Self.test("adds", .failed))])
        let results = AttemptResults(
            tests: [Self.test("adds", .knownIssue)], analysis: "clean", tested: "tests", verdict: .succeeded)
        #expect(earlier.requiring(results) == results)
    }

    @Test(
        .proves(
            .testHistory,
            "A pass on retry is *flaky*, never silently green: by a tool's retries, a rerun of all or of some tests, an attempt made again"
        ))
    func testThatATestOfTwoStepsIsFoundAmongTheFailuresAsItIsStored() {
        // given: the second step's has a number in the store
        let both = [Self.test("adds", .passed), Self.test("adds", .passed)]
        let results = AttemptResults(tests: both, analysis: "clean", tested: "tests", verdict: .succeeded)
        let earlier = FlakyTests([.init(attempt: 1, result: Self.test("adds (2)", .failed))])
        // when
        let marked = earlier.marking(results.namingEachTestOnce(), attempt: 2)
        // then
        #expect(marked.tests.map(\.fullName) == ["KitTests/adds", "KitTests/adds (2)"])
        #expect(marked.tests.map(\.outcome) == [.passed, .flaky])
        #expect(marked.verdict == .warnings)
    }

    @Test(arguments: [Verdict.warnings, .analyzerWarnings, .testFailures, .buildErrors, .canceled, .internalError])
    func testThatAWorseVerdictStays(_ verdict: Verdict) {
        let results = Self.marked(
            [Self.test("adds", .passed)], verdict, reason: "why", after: [[Self.test("adds", .failed)]])
        #expect(results.verdict == verdict)
        #expect(results.reason == "why")
        #expect(results.counts.flakyTests == 1)
    }

    @Test func testThatManyAreCountedAndSomeAreNamed() {
        let names = (1...5).map { "test\($0)" }
        let results = Self.marked(
            names.map { Self.test($0, .passed) }, after: [names.map { Self.test($0, .failed) }])
        #expect(
            results.reason == "5 tests are flaky: KitTests/test1, KitTests/test2, KitTests/test3 and 2 more")
        #expect(Set(results.findings.map(\.fingerprint)).count == 5)
    }

    @Test func testThatHowItFailsDoesNotMakeItAnotherIssue() {
        let prints = ["2 is not 3", "3 is not 4"].enumerated().map { index, message in
            Self.marked(
                [Self.test("adds", .passed)], after: [[Self.test("adds", .failed, message: message, line: index + 7)]]
            ).findings.map(\.fingerprint)
        }
        #expect(prints[0] == prints[1])
    }
}
