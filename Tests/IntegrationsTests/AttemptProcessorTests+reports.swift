import Model
import Storage
import TestSupport
import Testing

@testable import Integrations
@testable import Jobs

/// Output and reports of other tools than Swift's.
extension AttemptProcessorTests {
    @Suite struct GivenOtherTools {
        private let outer = AttemptProcessorTests()

        private static let consoles = [
            "go": "--- FAIL: TestA (0.00s)\n    a_test.go:3: no\nFAIL\nFAIL\tkit/a\t0.1s\nok  \tkit/b\t0.1s\n",
            "cargo":
                "running 1 test\ntest a ... FAILED\n\ntest result: FAILED. 0 passed; 1 failed; 0 ignored;\n",
            "ctest":
                "Test project /b\n1/1 Test #1: a ....***Failed    0.00 sec\n\n0% tests passed, 1 tests failed out of 1\n",
            "TAP": "TAP version 13\n1..1\nnot ok 1 - a\n",
        ]

        // The arguments are names: other tools read the arguments that a test prints, and would report a failure here.
        @Test(
            .proves(.reports, "The consoles of Go, Cargo, CTest and TAP where no report has the tests"),
            arguments: consoles.keys.sorted())
        func testThatTestsOnTheConsoleCount(tool: String) async throws {
            let output = try #require(Self.consoles[tool])
            let results = try await outer.results(of: [Played(step: .testing, output: output, exit: 1)])
            // Go's other package counts as one test.
            #expect(results.reason == (tool == "go" ? "1 of 2 tests failed" : "1 of 1 test failed"))
            #expect(results.tested == (tool == "go" ? "2 tests, 1 failing" : "1 test, 1 failing"))
        }

        /// The secret is not in one piece in the bytes of the report.
        @Test(.proves(.jobs, "Secrets are masked again in text that is joined from reports and logs"))
        func testThatASecretThatAReportPutsTogetherIsMaskedEverywhere() async throws {
            // given
            let report = """
                <testsuite name="s"><testcase classname="K.Hun&#116;er2" name="is &#72;unter2">
                <failure message="Hun<!-- -->ter2">it was Hun<![CDATA[ter]]>2, no Hun<!-- x -->ter2 or Hun<?x y?>ter2</failure></testcase></testsuite>
                """.replacing("message=\"Hun<!-- -->ter2\"", with: "message=\"Hun&#x74;er2\"")
            let events = [
                #"{"Action":"run","Package":"k","Test":"TestA"}"#,
                #"{"Action":"output","Package":"k","Test":"TestA","Output":"    a_test.go:3: Hun"}"#,
                #"{"Action":"output","Package":"k","Test":"TestA","Output":"ter2\\n"}"#,
                #"{"Action":"fail","Package":"k","Test":"TestA","Elapsed":0}"#,
                #"{"Action":"fail","Package":"k","Elapsed":0}"#,
            ].joined(separator: "\n")
            // when
            let results = try await outer.results(
                of: [Played(step: .testing, exit: 1, report: report)], secrets: ["Hunter2"])
            let others = try await outer.results(
                of: [Played(step: .testing, exit: 1, report: events, reportName: "go.json")], secrets: ["Hunter2"])
            // then
            for results in [results, others] {
                let texts =
                    "\(results.tests) \(results.findings.map(\.finding)) \(results.reason ?? "") \(results.notes)"
                #expect(!texts.contains("Hunter2"), "\(texts)")
                #expect(texts.contains("***"), "\(texts)")
                #expect(results.tests.count == 1)
            }
        }

        @Test(
            .proves(
                .testHistory,
                "A pass on retry is *flaky*, never silently green: by a tool's retries, a rerun of all or of some tests, an attempt made again"
            ))
        func testThatATestThatPassedOnRetryIsAWarning() async throws {
            let report = """
                <testsuite name="KitTests" failures="0"><testcase classname="KitTests" name="adds"><failure message="2 is not 3"/></testcase>
                <testcase classname="KitTests" name="adds"/><testcase classname="KitTests" name="subtracts"/></testsuite>
                """
            let results = try await outer.results(of: [Played(step: .testing, report: report)])
            #expect(results.verdict == .warnings)
            #expect(results.reason == "1 test is flaky: KitTests/adds")
            #expect(
                results.findings.map(\.finding.message) == [
                    "KitTests/adds is flaky: it failed, and passed when it was run again: 2 is not 3"
                ])
            #expect(results.counts.flakyTests == 1)
            #expect(results.counts.tests == 2)
        }

        @Test func testThatAConsoleThatBreaksOffIsNotGreen() async throws {
            let output = "running 2 tests\ntest a ... ok\n"
            let results = try await outer.results(of: [Played(step: .testing, output: output)])
            #expect(results.verdict == .testFailures)
            expectContains(results.reason ?? "", "ends before its 2 tests do")
        }

        @Test(.proves(.reports, "The consoles of Go, Cargo, CTest and TAP where no report has the tests"))
        func testThatWhatAProgramPrintsIsNoTAP() async throws {
            let results = try await outer.results(of: [Played(step: .testing, output: "ok\nnot ok at all\n1..3\n")])
            #expect(results.verdict == .succeeded)
            #expect(results.tested == "by exit status alone: the command writes no report")
        }

        @Test(.proves(.reports, "Sanitizers' reports as issues with stacks, the same in the next run"))
        func testThatASanitizersReportIsAnIssueAlthoughTheTestsPassed() async throws {
            let output = "a.c:3:4: runtime error: signed integer overflow: 1 + 2\n"
            let results = try await outer.results(
                of: [Played(step: .testing, output: output, report: AttemptProcessorTests.passing)])
            #expect(results.verdict == .analyzerWarnings)
            #expect(results.findings.map(\.finding.rule) == ["UndefinedBehaviorSanitizer.signed-integer-overflow"])
            #expect(results.findings.first?.finding.path == "a.c")
            #expect(results.analysis == "not run", "no analyzer found it")
        }

        @Test func testThatAnAnalysisReadsLinesOfLinters() async throws {
            let results = try await outer.results(of: [
                Played(step: .analyzing, name: "ruff", output: "a.py:1:8: F401 unused\n", exit: 1),
                Played(step: .building),
            ])
            #expect(results.verdict == .analyzerWarnings)
            #expect(results.findings.map(\.finding.rule) == ["F401"])
            #expect(results.analysis == "1 finding (ruff)")
        }

        @Test func testThatABuildsReportThatCannotBeReadIsAWarning() async throws {
            let results = try await outer.results(of: [
                Played(step: .building, report: "{\"version\":", reportName: "build.sarif")
            ])
            #expect(results.verdict == .warnings)
            #expect(results.findings.map(\.finding.rule) == ["martlet.report"])
        }

        @Test(.proves(.reports, "Coverage of llvm-cov, lcov and Cobertura: totals, files, delta"))
        func testThatCoverageOfAllStepsIsKeptAndNoted() async throws {
            // given
            let report = "SF:a.c\nDA:1,1\nDA:2,0\nDA:3,1\nend_of_record\n"
            let other = "SF:b.c\nDA:1,0\nend_of_record\n"
            // when
            let results = try await outer.results(of: [
                Played(step: .building, name: "all", report: other, reportName: "other.lcov"),
                Played(step: .testing, report: report, reportName: "coverage.lcov"),
            ])
            // then
            #expect(results.verdict == .succeeded)
            #expect(results.coverage?.files.map(\.path) == ["a.c", "b.c"])
            #expect(results.coverage?.lines == Coverage.Share(covered: 2, total: 4))
            #expect(results.notes.contains("coverage: 50.0 % of lines (2 of 4) in 2 files"))
        }
    }

    /// What a step's reports contain besides its tests, and what they lack.
    @Suite struct GivenReports {
        private let outer = AttemptProcessorTests()

        private static let events = """
            {"kind":"test","payload":{"id":"K.S/a()/f.swift:1:1","kind":"function","name":"a()"},"version":0}
            {"kind":"event","payload":{"kind":"runStarted"},"version":0}
            {"kind":"event","payload":{"kind":"testStarted","testID":"K.S/a()/f.swift:1:1"},"version":0}
            {"kind":"event","payload":{"kind":"issueRecorded","issue":{"isKnown":false},"messages":[{"text":"boom"}]},"version":0}
            {"kind":"event","payload":{"kind":"testEnded","testID":"K.S/a()/f.swift:1:1"},"version":0}
            {"kind":"event","payload":{"kind":"runEnded"},"version":0}
            """
        private static let checkstyle =
            "<checkstyle><file name='a.js'><error line='3' message='m' source='semi'/></file></checkstyle>"
        private static let cobertura =
            "<coverage line-rate='1'><class filename='a.c'><line number='1' hits='1'/></class></coverage>"

        @Test func testThatAFailureOutsideOfAnyTestIsRed() async throws {
            let results = try await outer.results(
                of: [Played(step: .testing, report: Self.events, reportName: "events.jsonl")])
            #expect(results.verdict == .testFailures)
            #expect(results.reason == "failed outside of any test: boom")
        }

        @Test(
            .proves(
                .reports,
                "What a report finds counts in every step; each pattern needs a file, a test step a report of tests"),
            arguments: [JobStep.building, .testing])
        func testThatFindingsOfALinterAreNeverGreen(step: JobStep) async throws {
            let results = try await outer.results(
                of: [Played(step: step, report: Self.checkstyle, reportName: "lint.xml")])
            #expect(results.verdict == .analyzerWarnings)
            #expect(results.counts.analyzerWarnings == 1)
        }

        @Test func testThatTestsThatFailInAnAnalysisAreItsFindings() async throws {
            let results = try await outer.results(of: [
                Played(
                    step: .analyzing, name: "eslint",
                    report: "<testsuite><testcase name='a.js'><failure message='m'/></testcase></testsuite>"),
                Played(step: .building),
            ])
            #expect(results.verdict == .analyzerWarnings)
            #expect(results.analysis == "1 finding (eslint)")
        }

        @Test func testThatTestsThatFailInABuildAreRed() async throws {
            let report = "<testsuite><testcase name='a'><failure message='m'/></testcase></testsuite>"
            let results = try await outer.results(of: [Played(step: .building, name: "all", report: report)])
            #expect(results.verdict == .testFailures)
            #expect(results.reason == "1 of 1 test failed in the step all")
        }

        @Test func testThatAnAnalysisWithoutARunIsNotClean() async throws {
            let results = try await outer.results(of: [
                Played(
                    step: .analyzing, name: "lint", report: #"{"version":"2.1.0","runs":[]}"#, reportName: "lint.sarif"),
                Played(step: .building),
            ])
            #expect(results.verdict == .analyzerWarnings)
            #expect(results.findings.map(\.finding.rule) == ["martlet.report"])
        }

        private static let odd = "a.c:1:2: warning: odd [-Wodd]\n"

        @Test(
            .proves(
                .reports,
                "An analysis that was ended on its way is never clean, whatever it had found and who muted that"),
            arguments: [
                Played(step: .analyzing, output: Self.odd, exit: nil, signal: 9, limit: "analyzing exceeded 1 s"),
                Played(step: .analyzing, output: Self.odd, exit: 1, limit: "analyzing exceeded 1 s"),
                Played(step: .analyzing, output: Self.odd, exit: nil, signal: 11),
            ])
        func testThatAnAnalysisThatWasEndedSaysSoBesideWhatItFound(played: Played) async throws {
            let results = try await outer.results(of: [played, Played(step: .building)])
            #expect(results.verdict == .analyzerWarnings)
            #expect(results.findings.map(\.finding.path) == ["a.c", nil])
            #expect(results.findings.last?.finding.rule == "martlet.analysis")
            let reason = played.limit ?? "signal 11 (SIGSEGV)"
            #expect(results.findings.last?.finding.message == "analyzing did not finish: \(reason); see the log")
        }

        @Test(
            .proves(
                .reports,
                "What a report finds counts in every step; each pattern needs a file, a test step a report of tests"))
        func testThatEachPatternNeedsAFile() async throws {
            let results = try await outer.results(
                of: [Played(step: .testing, report: AttemptProcessorTests.passing)],
                askedReports: ["*.xml", "unit/*.xml"])
            #expect(results.verdict == .testFailures)
            #expect(results.reason == "no file matches report: unit/*.xml")
        }

        @Test(
            .proves(
                .reports,
                "What a report finds counts in every step; each pattern needs a file, a test step a report of tests"))
        func testThatAPatternThatNoFileMatchesIsSaidToBeginAtTheRoot() async throws {
            let results = try await outer.results(
                of: [Played(step: .testing, output: "fine\n", workingDirectory: "tools")], askedReports: ["out.xml"])
            #expect(results.verdict == .testFailures)
            #expect(
                results.reason
                    == "no file matches report: out.xml (from the repository's root; the step ran in tools)")
        }

        @Test(
            .proves(
                .reports,
                "What a report finds counts in every step; each pattern needs a file, a test step a report of tests"),
            arguments: [
                ("build/*.xml", "build/coverage.xml", Self.cobertura, Verdict.testFailures),
                ("build/coverage.xml", "build/coverage.xml", Self.cobertura, .succeeded),
                ("report.json", "report.json", "./x.c:3:2: warning: unused variable 'y' [-Wunused]\n", .testFailures),
                ("report.txt", "report.txt", "a.c:1:2: runtime error: signed integer overflow: 1\n", .testFailures),
            ])
        func testThatATestStepNeedsAReportOfTests(
            pattern: String, name: String, report: String, verdict: Verdict
        ) async throws {
            let results = try await outer.results(
                of: [Played(step: .testing, report: report, reportName: name)], askedReports: [pattern])
            #expect(results.verdict == verdict)
            if verdict == .testFailures {
                #expect(results.reason == "no report of tests among the files of report: \(pattern)")
            } else {
                #expect(results.tested == "by exit status alone: the command writes no report")
            }
        }

        @Test func testThatAConsoleOfXCTestThatBreaksOffBetweenTwoTestsIsRed() async throws {
            let output = """
                Test Suite 'All tests' started at 2026-01-01 10:00:00.000
                Test Case 'A.testA' started at 2026-01-01 10:00:00.000
                Test Case 'A.testA' passed (0.1 seconds)

                """
            let results = try await outer.results(of: [Played(step: .testing, output: output)])
            #expect(results.reason == "the output of XCTest ends before its run does")
        }

        @Test(
            .proves(
                .reports,
                "What a report finds counts in every step; each pattern needs a file, a test step a report of tests"),
            arguments: [
                "?   \tkit\t[no test files]\n",
                "testing: warning: no tests to run\nPASS\nok  \tkit\t0.002s [no tests to run]\n",
                "running 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured;\n",
            ])
        func testThatAToolThatFindsNoTestsIsSaid(output: String) async throws {
            let results = try await outer.results(of: [Played(step: .testing, output: output)])
            #expect(results.verdict == .warnings)
            #expect(results.tested == "skipped: no tests (the test command found no test)")
        }

        @Test func testThatAUsualCommandThatLeavesNoReportIsJudgedByItsExitStatus() async throws {
            let results = try await outer.results(of: [Played(step: .testing, output: "fine\n", asksReport: true)])
            #expect(results.verdict == .succeeded)
            #expect(results.tested == "by exit status alone: the command writes no report")
        }
    }
}
