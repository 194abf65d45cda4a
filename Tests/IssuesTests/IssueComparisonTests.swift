import Model
import Storage
import TestSupport
import Testing

@testable import Issues

/// An absent issue is not resolved if nothing checked for it.
@Suite struct IssueComparisonTests {
    private static let warning = Finding(category: .warning, message: "unused", path: "a.c", line: 1)
    private static let analyzer = Finding(category: .analyzerWarning, message: "leak", rule: "unix.Malloc", path: "a.c")
    private static let error = Finding(category: .error, message: "expected ';'", path: "a.c", line: 2)
    private static let test = Finding(category: .testFailure, message: "2 is not 3", rule: "KitTests/adds")

    private func step(
        _ step: JobStep, named name: String? = nil, exit: Int? = 0, signal: Int? = nil, limit: String? = nil
    ) -> StepRecord {
        let time = Timestamp(millisecondsSinceEpoch: 1)
        return StepRecord(
            index: 0, step: step, name: name ?? step.rawValue, startedAt: time, endedAt: time, exit: exit,
            signal: signal,
            limit: limit)
    }

    /// Returns the status of an earlier issue after an attempt with these steps and tests, which does not find it.
    private func status(
        of finding: Finding, by step: JobStep? = nil, after steps: [StepRecord], tests: [TestResult] = [],
        findings: [Finding] = [], in configuration: String = "debug", testsNothing: Bool = false
    ) throws -> Model.Issue.Status? {
        let before = Model.Issue(
            fingerprint: "f", content: "f", status: .new, finding: finding, age: 1,
            configurations: [try #require(Name("debug"))], step: step)
        let found = findings.map { StoredFinding(fingerprint: $0.rule, content: $0.rule, finding: $0, step: .testing) }
        let comparison = IssueComparison(configurations: [
            .init(
                name: try #require(Name(configuration)), steps: steps, findings: found,
                tests: TestsRun(
                    named: IssueComparison.tests(of: [before]).intersection(tests.map(\.fullName)),
                    isAny: !tests.isEmpty,
                    hasCrashed: tests.contains { $0.outcome == .crashed }), testsNothing: testsNothing)
        ])
        return comparison.issues(comparison.current, before: [before], number: 2).first { $0.fingerprint == "f" }?
            .status
    }

    private static let passed = TestResult(suite: "KitTests", name: "adds", outcome: .passed)
    private static let other = TestResult(suite: "KitTests", name: "subtracts", outcome: .passed)
    private static let crashed = TestResult(suite: "KitTests", name: "subtracts", outcome: .crashed)

    @Test(.proves(.issueHistory, "New, unresolved, resolved; nothing is resolved by absence"))
    func testThatAnErrorIsResolvedByTheBuildWithoutIt() throws {
        #expect(try status(of: Self.error, after: [step(.building)]) == .resolved)
        #expect(try status(of: Self.error, after: []) == .unresolved)
    }

    /// One cause is one error, however differently it fails.
    @Test(.proves(.jobs, "A step that fails in another way than before is one error, not two"))
    func testThatAStepThatFailsInAnotherWayFailsOnce() throws {
        let failed = Finding(
            category: .error, message: "the step pack failed: exit status 2; see the log", rule: "martlet.build")
        let full = step(.building, named: "pack", exit: nil, signal: 9, limit: "processes over 64")
        // Earlier versions stored issues without the kind of step.
        for kind in [nil, JobStep.building] {
            #expect(try status(of: failed, by: kind, after: [full]) == .resolved)
        }
        let canceled = step(.building, named: "pack", exit: nil, signal: 15)
        #expect(try status(of: failed, by: .building, after: [canceled]) == .unresolved)
        let other = step(.building, named: "pack2", exit: nil, signal: 9, limit: "processes over 64")
        #expect(try status(of: failed, by: .building, after: [other]) == .unresolved)
        #expect(try status(of: Self.error, by: .building, after: [full]) == .unresolved)
    }

    @Test func testThatAWarningIsResolvedByABuildThatSucceeds() throws {
        #expect(try status(of: Self.warning, after: [step(.building)]) == .resolved)
        #expect(try status(of: Self.warning, after: [step(.building, exit: 1)]) == .unresolved)
        #expect(try status(of: Self.warning, after: [step(.building, limit: "building exceeded 1 min")]) == .unresolved)
        #expect(try status(of: Self.warning, after: []) == .unresolved)
    }

    @Test func testThatAnAnalyzersFindingIsResolvedByAnAnalysisThatEnded() throws {
        #expect(try status(of: Self.analyzer, after: [step(.analyzing)]) == .resolved)
        #expect(try status(of: Self.analyzer, after: [step(.analyzing, exit: 1)]) == .resolved)
        #expect(try status(of: Self.analyzer, after: [step(.analyzing, exit: nil, signal: 9)]) == .unresolved)
        #expect(try status(of: Self.analyzer, after: [step(.analyzing, limit: "log over 64 MiB")]) == .unresolved)
    }

    @Test func testThatAnAnalyzersFindingRemainsWhenTheAnalysisFailed() throws {
        // given
        let debug = try #require(Name("debug"))
        let before = Model.Issue(
            fingerprint: "f", content: "f", status: .new, finding: Self.analyzer, age: 1, configurations: [debug])
        let failed = Finding(category: .analyzerWarning, message: "lint failed", rule: "martlet.analysis")
        let comparison = IssueComparison(configurations: [
            .init(
                name: debug, steps: [step(.analyzing, exit: 127)],
                findings: [StoredFinding(fingerprint: "g", content: "g", finding: failed)])
        ])

        // when
        let issues = comparison.issues(comparison.current, before: [before], number: 2)

        // then
        #expect(issues.map(\.status) == [.new, .unresolved])
    }

    @Test(
        .proves(
            .issueHistory,
            "Only the kind of step that found an issue finds it gone, and all steps of that kind must have ended; a sanitizer's by the tests"
        ))
    func testThatASanitizersFindingIsResolvedByTheTests() throws {
        let race = Finding(category: .analyzerWarning, message: "data race", rule: "ThreadSanitizer/data-race")
        let built = step(.building)
        #expect(try status(of: race, by: .testing, after: [built, step(.testing)], tests: [Self.passed]) == .resolved)
        // The analysis ended, and no test ran.
        let failed = [step(.analyzing), step(.building, exit: 1)]
        #expect(try status(of: race, by: .testing, after: failed) == .unresolved)
        #expect(try status(of: Self.analyzer, by: .analyzing, after: failed) == .resolved)
    }

    @Test(
        .proves(
            .issueHistory,
            "Only the kind of step that found an issue finds it gone, and all steps of that kind must have ended; a sanitizer's by the tests"
        ))
    func testThatResolvingDependenciesDoesNotSpeakForTheBuild() throws {
        let resolved = step(.building, named: "resolve")
        let broken = [resolved, step(.building, exit: 1)]
        #expect(try status(of: Self.warning, by: .building, after: broken) == .unresolved)
        #expect(try status(of: Self.error, by: .building, after: [resolved]) == .unresolved)
        #expect(
            try status(of: Self.error, by: .building, after: [resolved, step(.building, exit: nil, signal: 15)])
                == .unresolved)
        // Of two steps that build, the second has not ended.
        #expect(
            try status(of: Self.warning, by: .building, after: [step(.building), step(.building, exit: 2)])
                == .unresolved)
        let missing = Finding(category: .error, message: "no kit", rule: "martlet.resolve")
        #expect(try status(of: missing, by: .building, after: broken) == .resolved)
        #expect(
            try status(of: missing, by: .building, after: [step(.building, named: "resolve", exit: 1)]) == .unresolved)
    }

    @Test(
        .proves(
            .issueHistory,
            "Only the kind of step that found an issue finds it gone, and all steps of that kind must have ended; a sanitizer's by the tests"
        ))
    func testThatATestFailureRemainsWhenTheCommandToldOfNoTest() throws {
        // It failed before any test.
        #expect(try status(of: Self.test, by: .testing, after: [step(.testing, exit: 1)]) == .unresolved)
        // Its report could not be read to the end.
        let broken = Finding(category: .testFailure, message: "report unreadable", rule: "martlet.test")
        #expect(
            try status(of: Self.test, by: .testing, after: [step(.testing)], tests: [Self.other], findings: [broken])
                == .unresolved)
        // Of two test steps the second was ended.
        let steps = [step(.testing), step(.testing, exit: nil, signal: 9)]
        #expect(try status(of: Self.test, by: .testing, after: steps, tests: [Self.other]) == .unresolved)
    }

    @Test func testThatAnAnalyzersFindingRemainsWhenNothingRan() throws {
        #expect(try status(of: Self.analyzer, after: []) == .unresolved)
    }

    @Test(
        .proves(
            .testHistory,
            "A pass on retry is *flaky*, never silently green: by a tool's retries, a rerun of all or of some tests, an attempt made again"
        ))
    func testThatAFlakyTestIsResolvedByItsPassOrWhenItIsGone() throws {
        let flaky = Finding(category: .warning, message: "KitTests/adds is flaky", rule: "flaky: KitTests/adds")
        #expect(try status(of: flaky, after: [step(.building)]) == .unresolved)
        #expect(try status(of: flaky, after: [step(.testing)], tests: [Self.passed]) == .resolved)
        #expect(try status(of: flaky, after: [step(.testing)], tests: [Self.other]) == .resolved)
        #expect(try status(of: flaky, after: [step(.testing, exit: nil, signal: 6)]) == .unresolved)
    }

    @Test(
        .proves(
            .testHistory,
            "Integrations are compared without reading every test: only whether earlier failures ran again"))
    func testThatATestFailureIsResolvedByTheTestThatPasses() throws {
        #expect(try status(of: Self.test, after: [step(.testing, exit: 1)], tests: [Self.passed]) == .resolved)
        // Also if the others were cut short.
        #expect(try status(of: Self.test, after: [step(.testing, limit: "time")], tests: [Self.passed]) == .resolved)
    }

    @Test(.proves(.issueHistory, "New, unresolved, resolved; nothing is resolved by absence"))
    func testThatATestFailureRemainsWhenTestingWasNotWhole() throws {
        #expect(try status(of: Self.test, after: [step(.building, exit: 1)]) == .unresolved)
        #expect(try status(of: Self.test, after: [step(.testing, limit: "time")], tests: [Self.other]) == .unresolved)
        #expect(try status(of: Self.test, after: [step(.testing)], tests: [Self.crashed]) == .unresolved)
    }

    @Test func testThatATestFailureIsResolvedWhenTheTestIsGoneFromAWholeRun() throws {
        #expect(try status(of: Self.test, after: [step(.testing)], tests: [Self.other]) == .resolved)
    }

    /// Exit status 0 without any test: the failed test is not fixed, it did not run. The same holds for its flakiness.
    @Test(.proves(.reports, "A failing test that is gone with all others stays an issue"))
    func testThatATestFailureRemainsWhenAllTestsAreGone() throws {
        let flaky = Finding(category: .warning, message: "KitTests/adds is flaky", rule: "flaky: KitTests/adds")
        #expect(try status(of: Self.test, by: .testing, after: [step(.testing)]) == .unresolved)
        #expect(try status(of: flaky, by: .testing, after: [step(.testing)]) == .unresolved)
        #expect(try status(of: Self.test, by: .testing, after: [step(.building)]) == .unresolved)
        #expect(try status(of: Self.test, by: .testing, after: [step(.building)], testsNothing: true) == .resolved)
        #expect(try status(of: Self.test, by: .testing, after: [], testsNothing: true) == .unresolved)
    }

    @Test func testThatNothingTestedIsAnIssueUntilSomethingIs() throws {
        let untested = Finding(
            category: .warning, message: "nothing was tested", rule: Finding.Rule.nothingTested)
        #expect(try status(of: untested, by: .testing, after: [step(.building)]) == .unresolved)
        #expect(try status(of: untested, by: .testing, after: [step(.testing)], tests: [Self.passed]) == .resolved)
        #expect(try status(of: untested, by: .testing, after: [step(.building)], testsNothing: true) == .resolved)
        // A sanitizer's finding in tests that did not run remains.
        let race = Finding(category: .analyzerWarning, message: "data race", rule: "ThreadSanitizer/data-race")
        #expect(try status(of: race, by: .testing, after: [step(.testing)], findings: [untested]) == .unresolved)
    }

    @Test(.proves(.reports, "An analysis whose output was not understood is never clean, and resolves nothing"))
    func testThatAnAnalyzersFindingRemainsWhenTheAnalysisWasNotUnderstood() throws {
        let unread = Finding(
            category: .analyzerWarning, message: "lint was not understood", rule: Finding.Rule.notUnderstood)
        let before = Model.Issue(
            fingerprint: "f", content: "f", status: .new, finding: Self.analyzer, age: 1,
            configurations: [try #require(Name("debug"))], step: .analyzing)
        let comparison = IssueComparison(configurations: [
            .init(
                name: try #require(Name("debug")), steps: [step(.analyzing)],
                findings: [StoredFinding(fingerprint: "g", content: "g", finding: unread, step: .analyzing)])
        ])
        #expect(
            comparison.issues(comparison.current, before: [before], number: 2).map(\.status) == [.new, .unresolved])
    }

    /// As each configuration states whether it warns, and whether it may test nothing.
    @Test(
        arguments: [
            ([(true, false)], true), ([(false, false)], false), ([(false, true)], false),
            ([(true, false), (false, false)], false), ([(true, false), (false, true)], true), ([], false),
        ] as [([(warns: Bool, may: Bool)], Bool)])
    func testThatAnIntegrationIsUntestedIfNoConfigurationTests(
        configurations: [(warns: Bool, may: Bool)], isUntested: Bool
    ) throws {
        let untested = Finding(category: .warning, message: "nothing was tested", rule: Finding.Rule.nothingTested)
        let comparison = IssueComparison(
            configurations: try configurations.map { warns, may in
                .init(
                    name: try #require(Name("debug")), steps: [step(.building)],
                    findings: warns ? [StoredFinding(fingerprint: "f", content: "f", finding: untested)] : [],
                    mayTestNothing: may)
            })
        #expect(comparison.isUntested == isUntested)
    }

    /// Each earlier issue asks whether its analysis has a result. If each searched the present findings, that would be 2,500,000,000 comparisons,
    /// which take many minutes.
    @Test(
        .proves(
            .reports, "Issues of before are compared in proportion to their number: none looks through all findings"),
        .timeLimit(TestLimits.minutes(1)))
    func testThatNoIssueLooksThroughAllFindings() throws {
        // given
        let (count, debug) = (50_000, try #require(Name("debug")))
        func comparison(_ range: Range<Int>) -> IssueComparison {
            let findings = range.map { number in
                StoredFinding(
                    fingerprint: "f\(number)", content: "c\(number)",
                    finding: Finding(
                        category: .analyzerWarning, message: "m\(number)", rule: "R", path: "a.c", line: number + 1),
                    step: .analyzing)
            }
            return IssueComparison(configurations: [.init(name: debug, steps: [step(.analyzing)], findings: findings)])
        }
        let first = comparison(0..<count)
        let before = first.issues(first.current, before: [], number: 1)
        // when
        let second = comparison(count..<2 * count)
        let issues = second.issues(second.current, before: before, number: 2)
        // then
        #expect(issues.count { $0.status == .new } == count)
        #expect(issues.count { $0.status == .resolved } == count)
    }

    @Test func testThatOneConfigurationThatLookedDoesNotSpeakForAnother() throws {
        // given
        let (debug, release) = (try #require(Name("debug")), try #require(Name("release")))
        let before = Model.Issue(
            fingerprint: "f", content: "f", status: .unresolved, finding: Self.warning, age: 4,
            configurations: [debug, release])
        let comparison = IssueComparison(configurations: [
            .init(name: debug, steps: [step(.building)], findings: []),
            .init(name: release, steps: [step(.building, exit: 1)], findings: []),
        ])

        // when
        let issues = comparison.issues(comparison.current, before: [before], number: 2)

        // then
        #expect(issues.map(\.status) == [.unresolved])
        #expect(issues.map(\.age) == [5])
    }

    @Test func testThatOneFindingOfTwoConfigurationsIsOneIssue() throws {
        // given
        let found = StoredFinding(fingerprint: "f", content: "f", finding: Self.warning)
        let (debug, release) = (try #require(Name("debug")), try #require(Name("release")))
        let comparison = IssueComparison(configurations: [
            .init(name: debug, steps: [step(.building)], findings: [found]),
            .init(name: release, steps: [step(.building)], findings: [found]),
        ])

        // when
        let issues = comparison.issues(comparison.current, before: [], number: 1)

        // then
        #expect(issues.map(\.status) == [.new])
        #expect(issues.first?.configurations == [debug, release])
    }

    @Test(.proves(.reports, "Comparing large reports takes linear time, whatever changed"))
    func testThatOfManyNewIssuesTheFirstHaveASuspect() throws {
        // given
        let count = IssueHistory.maximumAsked + 10
        var issues = try (0..<count).map { number in
            Model.Issue(
                fingerprint: "f\(number)", status: .new, finding: Self.warning, age: 1,
                configurations: [try #require(Name("debug"))])
        }
        issues[0].status = .unresolved

        // when
        let asked = IssueHistory.asked(issues, known: [:])

        // then
        #expect(asked.count == IssueHistory.maximumAsked)
        #expect(asked.first?.fingerprint == "f1")
    }
}
