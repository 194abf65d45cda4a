import BotSupport
import Execution
import ExecutionSupport
import Integrations
import JobProtocol
import Jobs
import Model
import Storage
import TestSupport
import Testing

/// `rerun --tests`: the test step gets the filter, and the other tests keep their outcomes.
@Suite struct FilteredRerunTests {
    private enum Fault { case ofATest, afterTheTests }

    /// Runs a test with a Swift package with two tests, of which `subtracts` fails while it is broken. Or no test fails, but the command does after
    /// them, as with a `tearDown` of a class.
    private static func withPackage(
        also: String = "", file: String = "", fault: Fault = .ofATest, losing: Locked<Int>? = nil,
        _ body: (Bot, Locked<Bool>, Locked<[[String]]>) async throws -> Void
    ) async throws {
        let isBroken = Locked(true)
        let commands = Locked<[[String]]>([])
        let executor = ScriptedExecutor { job in
            let isBroken = isBroken.value
            return ScriptedExecutor.Plan { _, step in
                guard step.name == "test" else { return ScriptedExecutor.Play() }
                commands.withLock { $0.append(step.arguments) }
                let filter = step.arguments.first { $0.hasPrefix("--filter=") }?.dropFirst("--filter=".count)
                let tests = ["adds", "subtracts"].filter { name in filter.map { name.contains($0) } ?? true }
                let isRed = isBroken && tests.contains("subtracts")
                let cases = tests.map { name in
                    "<testcase classname=\"KitTests\" name=\"\(name)\" time=\"0.01\">"
                        + (isRed && fault == .ofATest && name == "subtracts" ? "<failure message=\"2 is not 3\"/>" : "")
                        + "</testcase>"
                }
                let report = "<testsuite name=\"KitTests\">\(cases.joined())</testsuite>\n"
                let place = step.report.contains("build/junit.xml") ? "build/junit.xml" : ".martlet/test/tests.xml"
                return ScriptedExecutor.Play(exit: isRed ? 1 : 0, reports: [place: report])
            }
        }
        let recipe = "configurations:\n  debug:\n\(also)analyze: []\narchive: { include: [] }\n"
        try await withBot(
            BotPlan(
                recipe: recipe, file: file, scripts: ["tell": "#!/bin/sh\n"],
                executor: losing.map { .other(Losing(executor, $0)) } ?? .scripted(executor))
        ) { bot in
            try await bot.push(Commit(files: ["Package.swift": "// swift-tools-version:6.0\n"]))
            try await bot.announce()
            try await body(bot, isBroken, commands)
        }
    }

    /// An executor that loses the supervisors of a number of attempts as soon as they are started.
    private final class Losing: Executor {
        private let playing: ScriptedExecutor
        private let left: Locked<Int>
        private let lost = ScriptedExecutor()

        init(_ playing: ScriptedExecutor, _ left: Locked<Int>) { (self.playing, self.left) = (playing, left) }

        func start(_ attempt: AttemptDirectory, secrets: [String: String]) async throws(ExecutionError) {
            let isLost = left.withLock { left in
                left -= 1
                return left >= 0
            }
            try await (isLost ? lost : playing).start(attempt, secrets: secrets)
            lost.lose(attempt)
        }

        func liveness(of attempt: AttemptDirectory) async throws(ExecutionError) -> Liveness {
            try await (lost.starts.contains(attempt.path) ? lost : playing).liveness(of: attempt)
        }

        func cancel(_ attempt: AttemptDirectory, reason: String, grace: Duration) async throws(ExecutionError) {
            try await playing.cancel(attempt, reason: reason, grace: grace)
        }
    }

    @Test(.proves(.programs, "`rerun`: further attempts of one integration, the newest counts"))
    func testThatALostAttemptIsMadeAgainWithItsFilter() async throws {
        let losing = Locked(0)
        try await Self.withPackage(losing: losing) { bot, isBroken, commands in
            // given
            let red = try await bot.completion(of: Self.first)
            expectVerdict(of: red, .testFailures)
            isBroken.withLock { $0 = false }
            losing.withLock { $0 = 1 }

            // when
            _ = try await bot.operations.rerun(Self.first, Rerun(testFilter: "subtracts"), by: "ada")
            let again = try await bot.completion(of: Self.first)

            // then
            #expect(again.attempts.map(\.testFilter) == [nil, "subtracts", "subtracts"])
            #expect(again.attempts.map(\.state.verdict) == [.testFailures, .internalError, .warnings])
            #expect(commands.value.last?.contains("--filter=subtracts") == true)
            #expect(again.tests.map(\.result.name).sorted() == ["adds", "subtracts"])
            expectVerdict(of: again, .warnings, because: "1 test is flaky: KitTests/subtracts")
        }
    }

    private static let first = IntegrationID(bot: Name(nearest: "kit"), number: 1)

    @Test(
        .proves(
            .testHistory,
            "A pass on retry is *flaky*, never silently green: by a tool's retries, a rerun of all or of some tests, an attempt made again"
        ), .proves(.programs, "`rerun --failed`, `--tests FILTER`, `--triggers`"))
    func testThatTheFilterGoesToTheTestStepAndTheOthersKeepTheirOutcome() async throws {
        try await Self.withPackage { bot, isBroken, commands in
            // given
            let red = try await bot.completion(of: Self.first)
            expectVerdict(of: red, .testFailures)
            isBroken.withLock { $0 = false }

            // when
            _ = try await bot.operations.rerun(Self.first, Rerun(testFilter: "subtracts"), by: "ada")
            let green = try await bot.completion(of: Self.first)

            // then
            #expect(commands.value.count == 2)
            #expect(commands.value.last?.contains("--filter=subtracts") == true)
            expectVerdict(of: green, .warnings, because: "1 test is flaky: KitTests/subtracts")
            #expect(green.tests.map(\.result.name).sorted() == ["adds", "subtracts"])
            #expect(green.tests.map(\.result.outcome) == [.passed, .flaky])
            #expect(green.attempt("debug")?.testFilter == "subtracts")
            #expect(
                green.attempt("debug")?.tested == "1 tests by the filter subtracts, 1 others as in attempt 1, 1 flaky")
            #expect(green.summary.counts.tests == 2)
            #expect(green.issues.map(\.finding.flakyTest) == ["KitTests/subtracts"])

            // and when: others run again, the failure is not forgotten
            _ = try await bot.operations.rerun(Self.first, Rerun(testFilter: "adds"), by: "ada")
            let third = try await bot.completion(of: Self.first)

            // then
            expectVerdict(of: third, .warnings, because: "1 test is flaky: KitTests/subtracts")
            #expect(third.issues.map(\.finding.flakyTest) == ["KitTests/subtracts"])
            #expect(third.summary.counts.flakyTests == 1)
        }
    }

    @Test(.proves(.programs, "`rerun --failed`, `--tests FILTER`, `--triggers`"))
    func testThatAFilterThatLeavesTheFailingOneOutMakesNothingGreen() async throws {
        try await Self.withPackage { bot, _, _ in
            // given
            _ = try await bot.completion(of: Self.first)

            // when
            _ = try await bot.operations.rerun(Self.first, Rerun(testFilter: "adds"), by: "ada")
            let again = try await bot.completion(of: Self.first)

            // then
            expectVerdict(of: again, .testFailures, because: "1 of 2 tests failed")
            expectIssues(of: again, ["new test-failure 2 is not 3"])
            #expect(again.summary.counts.testFailures == 1)
        }
    }

    @Test(.proves(.programs, "`rerun --failed`, `--tests FILTER`, `--triggers`"))
    func testThatNoFilterMakesGreenWhatWasRedWithoutAFailingTest() async throws {
        try await Self.withPackage(fault: .afterTheTests) { bot, _, commands in
            // given
            let red = try await bot.completion(of: Self.first)
            expectVerdict(
                of: red, .testFailures,
                because: "failed without any failing test: the command ended with exit status 1")

            // when
            let error = await expectRejection(OperationError.self, \.code, .conflict) {
                try await bot.operations.rerun(Self.first, Rerun(testFilter: "adds"), by: "ada")
            }

            // then
            expectContains(
                error?.message ?? "", "debug is not run again: its test command failed without any failing test")
            #expect(commands.value.count == 1)
            #expect(try await bot.store.integration(Self.first) == red.record)
        }
    }

    @Test func testThatWhatWasRedWithoutAFailingTestStaysRed() {
        // given
        let passed = TestResult(suite: "KitTests", name: "adds", outcome: .passed)
        let command = Finding(category: .testFailure, message: "the command ended with 1", rule: "martlet.test")
        let before = FilteredResults(
            filter: "adds", before: 1, tests: [passed],
            findings: [StoredFinding(fingerprint: "f", content: "f", finding: command)])

        // when
        let all = before.completing(
            AttemptResults(tests: [passed], analysis: "clean", tested: "1 test", verdict: .succeeded))

        // then
        #expect(all.verdict == .testFailures)
        #expect(all.reason == "the command ended with 1, in attempt 1")
        #expect(all.findings.map(\.finding) == [command])
        #expect(all.counts.testFailures == 1)
    }

    @Test(
        .proves(
            .testHistory,
            "A pass on retry is *flaky*, never silently green: by a tool's retries, a rerun of all or of some tests, an attempt made again"
        ),
        arguments: [
            (
                Finding(category: .analyzerWarning, message: "data race\nat a.c", rule: "ThreadSanitizer/data-race"),
                Verdict.analyzerWarnings, "data race, in attempt 1"
            ),
            (Finding(category: .warning, message: "deprecated", rule: ""), .warnings, "deprecated, in attempt 1"),
            (
                Finding(category: .testFailure, message: "at the end", rule: ""), .testFailures,
                "at the end, in attempt 1"
            ),
        ])
    func testThatWhatTheOtherTestsFoundIsKept(_ finding: Finding, _ verdict: Verdict, _ reason: String) {
        // given
        let passed = TestResult(suite: "KitTests", name: "adds", outcome: .passed)
        let found = [
            StoredFinding(fingerprint: "f", content: "f", finding: finding, step: .testing),
            // A build's finding is found again by the build.
            StoredFinding(
                fingerprint: "g", content: "g", finding: Finding(category: .warning, message: "unused"), step: .building
            ),
        ]
        let before = FilteredResults(filter: "adds", before: 1, tests: [passed], findings: found)

        // when
        let all = before.completing(
            AttemptResults(tests: [passed], analysis: "clean", tested: "1 test", verdict: .succeeded))

        // then
        #expect(all.verdict == verdict)
        #expect(all.reason == reason)
        #expect(all.findings.map(\.finding) == [finding])
    }

    @Test func testThatCoverageOfSomeTestsIsNotTakenForALoss() {
        // given
        let passed = TestResult(suite: "KitTests", name: "adds", outcome: .passed)
        let before = FilteredResults(filter: "adds", before: 1, tests: [passed], findings: [])
        let coverage = Coverage(files: [.init(path: "a.c", lines: .init(covered: 1, total: 10))])
        // when
        let all = before.completing(
            AttemptResults(
                tests: [passed], coverage: coverage, analysis: "clean", tested: "1 test", verdict: .succeeded))
        // then
        #expect(all.coverage == nil)
        #expect(all.notes == ["coverage of the tests by the filter adds alone is not compared"])
    }

    @Test func testThatAFilterThatMatchesNothingSaysSo() async throws {
        try await Self.withPackage { bot, _, _ in
            // given
            _ = try await bot.completion(of: Self.first)

            // when
            _ = try await bot.operations.rerun(Self.first, Rerun(testFilter: "--nothing"), by: "ada")
            let again = try await bot.completion(of: Self.first)

            // then
            expectVerdict(of: again, .testFailures)
            #expect(again.attempt("debug")?.notes.contains("no test matches the filter --nothing") == true)
        }
    }

    @Test(.proves(.programs, "`rerun --failed`, `--tests FILTER`, `--triggers`"))
    func testThatAConfigurationWithACommandOfItsOwnIsLeftAndTold() async throws {
        try await Self.withPackage(also: "  own: { build: 'true', test: make check, report: build/junit.xml }\n") {
            bot, isBroken, _ in
            // given
            _ = try await bot.completion(of: Self.first)
            isBroken.withLock { $0 = false }

            // when
            let accepted = try await bot.operations.rerun(Self.first, Rerun(testFilter: "subtracts"), by: "ada")
            let again = try await bot.completion(of: Self.first)

            // then
            #expect(accepted.jobs.map(\.description) == ["debug"])
            #expect(
                accepted.notes == [
                    "own is not run again: its recipe tests with a command of its own (make check), and has no `test-only` "
                        + "that runs the tests in $MARTLET_TESTS"
                ])
            expectVerdict(of: again, .testFailures, because: "1 of 2 tests failed")
            #expect(again.attempts.map(\.id.description).sorted() == ["kit#1/debug/1", "kit#1/debug/2", "kit#1/own/1"])
        }
    }

    @Test(.proves(.web, "Tests that are ticked run again, in the configurations that ran them"))
    func testThatTestsAreChosenByTheirNames() async throws {
        let also = "  own: { build: 'true', test: make check, test-only: ./some, report: build/junit.xml }\n"
        try await Self.withPackage(also: also) { bot, isBroken, commands in
            // given
            _ = try await bot.completion(of: Self.first)
            isBroken.withLock { $0 = false }

            // when
            let accepted = try await bot.operations.rerun(
                Self.first, Rerun(tests: ["KitTests/subtracts", "KitTests/gone"]), by: "ada")
            let again = try await bot.completion(of: Self.first)

            // then
            #expect(accepted.jobs.map(\.description) == ["debug", "own"])
            #expect(accepted.notes == ["KitTests/gone did not run in kit#1"])
            #expect(again.attempts.compactMap(\.testFilter) == ["^(KitTests[./]subtracts)($|/)", "KitTests/subtracts"])
            #expect(commands.value.contains(ShellCommand.arguments(for: "./some")))
            #expect(
                try await bot.store.reruns(of: Self.first).map(\.testFilter) == ["KitTests/subtracts, KitTests/gone"])
        }
    }

    @Test(arguments: [
        Rerun(testFilter: "a", tests: ["b"]), Rerun(tests: Array(repeating: "a", count: Rerun.maximumTests + 1)),
        Rerun(tests: [String(repeating: "a", count: Rerun.maximumTestBytes + 1)]),
        Rerun(tests: ["a"], isTriggersOnly: true),
    ])
    func testThatAChoiceThatIsNoneIsRefused(_ rerun: Rerun) async throws {
        try await Self.withPackage { bot, _, _ in
            // given
            _ = try await bot.completion(of: Self.first)
            // then
            await expectRejection(OperationError.self, \.code, .invalid) {
                try await bot.operations.rerun(Self.first, rerun, by: "ada")
            }
        }
    }

    @Test func testThatATestThatTheFilterLeavesOutAsSkippedStaysRed() {
        // given: Node 20 reports what its pattern leaves out as skipped
        let red = TestResult(suite: "kit", name: "subtracts", outcome: .failed)
        let before = FilteredResults(
            filter: "adds", before: 1,
            tests: [TestResult(suite: "kit", name: "adds", outcome: .failed), red], findings: [])
        // when
        let all = before.completing(
            AttemptResults(
                tests: [
                    TestResult(suite: "kit", name: "adds", outcome: .passed),
                    TestResult(suite: "kit", name: "subtracts", outcome: .skipped),
                ], analysis: "clean", tested: "1 test", verdict: .succeeded))
        // then
        #expect(all.verdict == .testFailures)
        #expect(all.tests.map(\.outcome) == [.passed, .failed])
    }

    @Test func testThatTriggersDoNotRunAgain() async throws {
        let file = "triggers: [{ name: tell, when: always, run: tell }]\n"
        try await Self.withPackage(file: file) { bot, isBroken, _ in
            // given
            let red = try await bot.completion(of: Self.first)
            expectTriggers(of: red, ["tell": .succeeded])
            isBroken.withLock { $0 = false }

            // when
            _ = try await bot.operations.rerun(Self.first, Rerun(testFilter: "subtracts"), by: "ada")
            let green = try await bot.completion(of: Self.first)

            // then
            expectVerdict(
                of: green, .warnings,
                because:
                    "1 test is flaky: KitTests/subtracts; the triggers were not run again, since only some tests were; "
                    + "rerun --triggers runs them")
            #expect(green.triggers == red.triggers)
        }
    }
}
