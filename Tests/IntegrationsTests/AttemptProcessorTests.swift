import BotSupport
import Execution
import ExecutionSupport
import JobProtocol
import Model
import Redaction
import Storage
import TestSupport
import Testing

@testable import Integrations
@testable import Jobs

/// The result of an attempt's directory: the table of verdicts.
@Suite struct AttemptProcessorTests {
    /// The course of one step.
    struct Played: Sendable {
        var step: JobStep
        var name: String?
        var arguments = ["/x"]
        var output = ""
        var exit: Int32? = 0
        var signal: Int32?
        var limit: String?
        var report: String?
        var reportName = "junit.xml"
        var workingDirectory = "."
        /// Whether the step names reports although none exists.
        var asksReport = false
        var isRequired: Bool { step != .analyzing && name != "list" }
    }

    func results(
        of played: [Played], outcome: StatusEvent.Outcome? = nil, reason: String? = nil, limit: String? = nil,
        previousTests: Int? = nil, notTested: String? = nil, whyUntested: String? = nil, expectsTests: Bool = true,
        ownCommands: [ProjectTree.OwnCommand] = [], askedReports: [String]? = nil, secrets: [String] = [],
        isFinished: Bool = true, reader: ReaderProgram? = nil
    ) async throws -> AttemptResults {
        try await withTemporaryDirectory { directory in
            let attempt = AttemptDirectory(path: directory.path("kit/1/debug/1"))
            let (executor, masking) = (ScriptedExecutor(), LogRedactor(secrets: secrets))
            let steps = played.map { played in
                JobDescription.Step(
                    step: played.step.rawValue, name: played.name ?? played.usualName, arguments: played.arguments,
                    workingDirectory: played.workingDirectory, timeoutMilliseconds: 1,
                    report: played.report == nil && !played.asksReport ? [] : [played.reportName],
                    isRequired: played.isRequired)
            }
            try attempt.prepare(JobDescription(steps: steps, workspace: directory.path("tree")))
            try await executor.start(attempt, secrets: [:])
            var failed: Int?
            for (index, played) in played.enumerated() where failed == nil {
                try executor.write(.started(step: index, at: 1), of: attempt)
                if !played.output.isEmpty { try executor.print(played.output, step: index, of: attempt) }
                if let report = played.report {
                    try executor.leave(Array(report.utf8), at: "reports/\(index)/\(played.reportName)", of: attempt)
                }
                try executor.write(
                    .ended(
                        step: index, at: 2, exit: played.exit, signal: played.signal, limit: played.limit,
                        usage: .init()), of: attempt)
                if played.isRequired, played.exit != 0 || played.limit != nil { failed = index }
            }
            if isFinished {
                try executor.write(
                    .finished(
                        at: 3, result: outcome ?? (failed == nil ? .completed : .failed), reason: reason, limit: limit,
                        step: outcome == .canceled ? steps.count - 1 : failed), of: attempt)
            }
            let plan = JobPlanner.Plan(
                steps: steps, collect: [], notAnalyzed: nil, notTested: notTested, whyUntested: whyUntested)
            let context = AttemptProcessor.Context(
                configuration: try Samples.name("debug"), plan: plan, previousTests: previousTests,
                expectsTests: expectsTests, ownCommands: ownCommands,
                askedReports: askedReports.map { ["test": $0] } ?? [:], masking: masking, digest: { _ in nil })
            return try AttemptProcessor(reader: reader ?? .built()).read(attempt, context: context, warnings: nil)
                .outcome { _, _ in nil }
        }
    }

    static let passing =
        "<testsuite name=\"K\"><testcase classname=\"K\" name=\"a\"/><testcase classname=\"K\" name=\"b\"/></testsuite>"
    static let failing =
        "<testsuite name=\"K\"><testcase classname=\"K\" name=\"a\"><failure message=\"no\"/></testcase></testsuite>"
    static let empty = "<testsuite name=\"K\"></testsuite>"
    private static let finding = """
        {"version":"2.1.0","runs":[{"tool":{"driver":{"name":"lint"}},"results":[{"ruleId":"R1","level":"warning",
        "message":{"text":"odd"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"a.c"},
        "region":{"startLine":3}}}]}]}]}
        """
    private static let clean = #"{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"lint"}},"results":[]}]}"#

    @Test func testThatAllGreenIsSucceeded() async throws {
        // given, when
        let results = try await results(of: [
            Played(step: .analyzing, report: Self.clean, reportName: "lint.sarif"), Played(step: .building),
            Played(step: .testing, report: Self.passing),
        ])

        // then
        #expect(results.verdict == .succeeded)
        #expect(results.reason == nil)
        #expect(results.counts.tests == 2)
        #expect(results.analysis == "clean (analyzing)")
        #expect(results.tested == "2 tests, 0 failing")
    }

    @Suite struct WhenItAnalyzes {
        private let outer = AttemptProcessorTests()

        @Test(.proves(.steps, "Analyze as a step of its own, before build"))
        func testThatAFindingIsAnAnalyzerWarning() async throws {
            // given, when
            let results = try await outer.results(of: [
                Played(step: .analyzing, exit: 1, report: finding, reportName: "lint.sarif"), Played(step: .building),
            ])

            // then
            #expect(results.verdict == .analyzerWarnings)
            #expect(results.findings.map(\.finding.path) == ["a.c"])
            #expect(results.analysis == "1 finding (analyzing)")
        }

        /// The tree has C files, and according to the manifest they belong to no target.
        @Test(
            .proves(
                .steps,
                "`clang --analyze` with SARIF for C targets, wherever they lie, with the options that their manifest gives them"
            ), arguments: [true, false])
        func testThatNoCTargetIsNotAnalyzedAndNeverClean(isFormatted: Bool) async throws {
            // given, when
            var played = [
                Played(
                    step: .analyzing, name: "clang", arguments: ["/s", "--analyze-c"],
                    output: "no C targets: nothing to analyze\n", report: nil, asksReport: true)
            ]
            if isFormatted { played.append(Played(step: .analyzing, name: "swift-format")) }
            let results = try await outer.results(of: played + [Played(step: .building)])

            // then
            #expect(results.verdict == .succeeded)
            #expect(
                results.analysis.hasPrefix(isFormatted ? "clean (swift-format)" : "not analyzed: no analyzer applies"))
        }

        @Test func testThatClangWithoutAReportIsNeverClean() async throws {
            // given, when: the step succeeds, and an expected file is missing
            let results = try await outer.results(of: [
                Played(step: .analyzing, name: "clang", output: "clang --analyze a.c\n", report: nil, asksReport: true)
            ])

            // then
            #expect(results.verdict == .analyzerWarnings)
        }

        @Test(arguments: [Played(step: .analyzing, exit: 127), Played(step: .analyzing, exit: nil, signal: 11)])
        func testThatAnAnalyzerThatFailsWithoutFindingIsNotClean(played: Played) async throws {
            // given, when
            let results = try await outer.results(of: [played, Played(step: .building)])

            // then
            #expect(results.verdict == .analyzerWarnings)
            #expect(results.findings.map(\.finding.rule) == ["martlet.analysis"])
        }

        @Test func testThatAReportThatCannotBeReadIsNotClean() async throws {
            // given, when
            let results = try await outer.results(of: [
                Played(step: .analyzing, report: "{\"version\":", reportName: "lint.sarif")
            ])

            // then
            #expect(results.verdict == .analyzerWarnings)
            #expect(results.findings.map(\.finding.rule) == ["martlet.report"])
        }
    }

    @Suite struct WhenItBuilds {
        private let outer = AttemptProcessorTests()

        @Test func testThatAWarningIsWarnings() async throws {
            // given, when
            let results = try await outer.results(of: [
                Played(step: .building, output: "a.c:3:1: warning: unused variable 'x' [-Wunused-variable]\n")
            ])

            // then
            #expect(results.verdict == .warnings)
            #expect(results.counts.warnings == 1)
        }

        @Test func testThatAnErrorOfABuildThatSucceedsIsAWarning() async throws {
            // given, when
            let results = try await outer.results(of: [
                Played(step: .building, output: "a.c:3:1: error: a plugin says so\n")
            ])

            // then
            #expect(results.verdict == .warnings)
            #expect(results.findings.map(\.finding.category) == [.warning])
        }

        @Test(.proves(.badInput, "Code that does not compile: build-errors"))
        func testThatAnErrorIsBuildErrors() async throws {
            // given, when
            let results = try await outer.results(of: [
                Played(step: .building, output: "a.c:3:1: error: expected ';'\n", exit: 1), Played(step: .testing),
            ])

            // then
            #expect(results.verdict == .buildErrors)
            #expect(results.reason == "the build failed: exit status 1")
            #expect(results.findings.map(\.finding.message) == ["expected ';'"])
            #expect(results.tested == "not run")
        }

        @Test(
            .proves(.badInput, "Code that does not compile: build-errors"),
            arguments: [
                (Played(step: .building, exit: 2), "the build failed: exit status 2"),
                (Played(step: .building, exit: nil, signal: 9), "the build failed: signal 9 (SIGKILL)"),
            ])
        func testThatAFailureWithoutADiagnosticIsAnErrorOfItsOwn(played: Played, reason: String) async throws {
            // given, when
            let results = try await outer.results(of: [played])

            // then
            #expect(results.verdict == .buildErrors)
            #expect(results.reason == reason)
            #expect(results.findings.map(\.finding.rule) == ["martlet.build"])
        }

        @Test func testThatALimitIsTheReason() async throws {
            // given, when
            let results = try await outer.results(
                of: [Played(step: .building, exit: nil, signal: 15, limit: "building exceeded 30 min")],
                limit: "building exceeded 30 min")

            // then
            #expect(results.verdict == .buildErrors)
            #expect(results.reason == "building exceeded 30 min")
        }
    }

    @Suite struct WhenItTests {
        private let outer = AttemptProcessorTests()

        @Test(arguments: [
            (Played(step: .testing, exit: 1, report: failing), "1 of 1 test failed"),
            // A red test is red whatever the command says.
            (Played(step: .testing, exit: 0, report: failing), "1 of 1 test failed"),
            (
                Played(step: .testing, exit: 1, report: passing),
                "failed without any failing test: the command ended with exit status 1"
            ),
            (
                Played(step: .testing, exit: 3),
                "failed without any failing test: the command ended with exit status 3"
            ),
        ])
        func testThatItIsTestFailures(played: Played, reason: String) async throws {
            // given, when
            let results = try await outer.results(of: [played])

            // then
            #expect(results.verdict == .testFailures)
            #expect(results.reason == reason)
            #expect(results.counts.testFailures == 1)
        }

        @Test(
            .proves(.reports, "A started test without an end is a crash, with its signal"),
            .proves(.badInput, "Tests that crash: test-failures, with the signal"))
        func testThatASignalIsTestFailuresWithItsName() async throws {
            // given, when
            let results = try await outer.results(of: [
                Played(step: .building), Played(step: .testing, exit: nil, signal: 11),
            ])

            // then
            #expect(results.verdict == .testFailures)
            expectContains(results.reason ?? "", "SIGSEGV")
        }

        @Test(.proves(.badInput, "Tests that hang: test-failures, with the limit and the name of the test"))
        func testThatALimitIsTestFailuresAndTheReason() async throws {
            // given, when
            let results = try await outer.results(
                of: [Played(step: .testing, exit: nil, signal: 9, limit: "testing exceeded 2 s")],
                limit: "testing exceeded 2 s")

            // then
            #expect(results.verdict == .testFailures)
            #expect(results.reason == "testing exceeded 2 s")
        }

        @Test func testThatAReportThatCannotBeReadIsNotGreen() async throws {
            // given, when
            let results = try await outer.results(of: [Played(step: .testing, report: "<testsuite><testcase")])

            // then
            #expect(results.verdict == .testFailures)
            #expect(results.reason != nil)
        }

        @Test(
            .proves(
                .reports, "Never green by absence: unreadable reports, no tests after some, a command without a report")
        )
        func testThatACommandWithoutAReportCountsByItsExitStatusAndSaysSo() async throws {
            // given, when
            let results = try await outer.results(of: [Played(step: .testing, output: "fine\n")])

            // then
            #expect(results.verdict == .succeeded)
            #expect(results.tested == "by exit status alone: the command writes no report")
        }

        @Test(.proves(.steps, "No test target: *skipped: no tests*"))
        func testThatAPackageWithoutTestTargetsIsSaid() async throws {
            // given: the output of SwiftPM 6.3.1
            let list = Played(
                step: .testing, name: "list",
                output: "error: no tests found; create a target in the 'Tests' directory\n",
                exit: 1)

            // when
            let results = try await outer.results(of: [
                Played(step: .building), list, Played(step: .testing, output: "no tests\n"),
            ])

            // then
            #expect(results.verdict == .warnings)
            #expect(results.tested == "skipped: no tests (the package has no test target)")
        }

        @Test func testThatAReportThatTheRecipeNamesAndNobodyWroteIsNotGreen() async throws {
            // given, when
            let results = try await outer.results(
                of: [Played(step: .testing, output: "fine\n")], askedReports: ["build/junit.xml"])

            // then
            #expect(results.verdict == .testFailures)
            #expect(results.reason == "no file matches report: build/junit.xml")
        }

        @Test(.proves(.steps, "No test target: *skipped: no tests*"))
        func testThatAPlanWithoutTestsSaysWhy() async throws {
            // given, when
            let results = try await outer.results(of: [Played(step: .building)], notTested: "skipped: no tests")

            // then
            #expect(results.tested == "skipped: no tests")
        }
    }

    @Test(arguments: [
        (StatusEvent.Outcome.canceled, "canceled by ada", Verdict.canceled),
        (.interrupted, "the machine was stopping", .internalError),
        (.faulty, "no space left on device", .internalError),
    ])
    func testThatTheSupervisorsWordOutweighsTheSteps(
        outcome: StatusEvent.Outcome, reason: String, verdict: Verdict
    ) async throws {
        // given, when
        let results = try await results(
            of: [Played(step: .building, output: "a.c:3:1: error: no\n", exit: 1)], outcome: outcome, reason: reason)

        // then
        #expect(results.verdict == verdict)
        #expect(results.reason == reason)
    }

    @Test func testThatAnAttemptWithoutAWordIsOurFault() async throws {
        // given, when
        let results = try await results(of: [Played(step: .building)], isFinished: false)

        // then
        #expect(results.verdict == .internalError)
        #expect(results.reason == "the job ended without a result")
    }

    @Test func testThatTheWorstStepIsTheVerdict() async throws {
        // given, when
        let results = try await results(of: [
            Played(step: .analyzing, report: Self.finding, reportName: "lint.sarif"),
            Played(step: .building, output: "a.c:3:1: warning: unused\n"),
            Played(step: .testing, exit: 1, report: Self.failing),
        ])

        // then
        #expect(results.verdict == .testFailures)
        #expect(results.counts.warnings == 1)
        #expect(results.counts.analyzerWarnings == 1)
        #expect(results.counts.testFailures == 1)
    }
}
