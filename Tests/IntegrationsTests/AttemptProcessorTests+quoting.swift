import Model
import Storage
import TestSupport
import Testing

@testable import Integrations

/// A passing test prints the output of a failing one, and the reverse.
extension AttemptProcessorTests {
    @Suite struct GivenOutputThatQuotesResults {
        private let outer = AttemptProcessorTests()

        private static let passing = #"<testsuite name="K"><testcase classname="K" name="a"/></testsuite>"#
        private static let failing =
            #"<testsuite name="K"><testcase classname="K" name="a"><failure message="no"/></testcase></testsuite>"#
        /// A complete log of XCTest, as the tests of a reporter print one.
        private static let log = """
            Test Suite 'All tests' started at x
            Test Case 'X.y' started at x
            Test Case 'X.y' failed (0.1 seconds)
            Test Suite 'All tests' failed at x
            \t Executed 1 test, with 1 failure (0 unexpected) in 0.1 (0.1) seconds

            """

        @Test(
            .proves(
                .issueHistory,
                "A test's output that looks like another test's result is ignored; real failures beside it count"),
            arguments: [
                "Test Case 'X.y' failed (0.1 seconds)", "log: Test Case 'X.y' failed (0.1 seconds)",
                "--- FAIL: TestX (0.00s)",
                "test x ... FAILED", "not ok 1 - x", "✘ Test fake() failed after 0.001 seconds with 1 issue.",
                "FAILED tests/test_x.py::test_y - assert 1 == 2", "[  FAILED  ] X.y (0 ms)", "Fatal error: quoted",
                "1/1 Test #1: x ................***Failed    0.00 sec", "error: this is a quotation",
                "==7==ERROR: AddressSanitizer: heap-use-after-free on address 0x1", "*** Signal 11: quoted",
                "\t Executed 1 test, with 1 failure (0 unexpected) in 0.1 (0.1) seconds",
            ])
        func testThatALineAloneInventsNoTest(line: String) async throws {
            let results = try await outer.results(of: [Played(step: .testing, output: line + "\nall passed\n")])
            #expect(results.verdict == .succeeded, "\(results.reason ?? "")")
            #expect(results.tests.isEmpty)
            #expect(results.findings.isEmpty)
        }

        @Test func testThatAReportThatSaysThatAllPassedIsBelieved() async throws {
            let results = try await outer.results(of: [Played(step: .testing, output: Self.log, report: Self.passing)])
            #expect(results.verdict == .succeeded, "\(results.reason ?? "")")
            #expect(results.tests.map(\.name) == ["a"])
        }

        /// `pytest --junit-xml=…` and `go test || true` in one step.
        @Test(
            .proves(.steps, "A passing report hides no failure that another tool of the step printed"),
            arguments: [(true, Verdict.testFailures), (false, .succeeded)])
        func testThatAReportThatSaysThatAllPassedHidesNoOtherTool(isAfter: Bool, verdict: Verdict) async throws {
            // given
            let report = #"<testsuite name="pytest"><testcase classname="K" name="a"/></testsuite>"#
            let begin = "===== test session starts =====\ncollected 1 item\n"
            let end = "===== 1 passed in 0.01s =====\n"
            let go = "--- FAIL: TestA (0.00s)\n    a_test.go:3: no\nFAIL\nFAIL\tkit/a\t0.1s\n"
            // when
            let results = try await outer.results(of: [
                Played(step: .testing, output: isAfter ? begin + end + go : begin + go + end, report: report)
            ])
            // then
            #expect(results.verdict == verdict, "\(results.reason ?? "")")
            #expect(results.tests.map(\.name) == (isAfter ? ["a", "TestA"] : ["a"]))
        }

        @Test func testThatTheStatusOfAToolThatRunsItselfIsBelieved() async throws {
            let arguments = ["/bin/sh", "-c", ProjectType.cargo.profile.test?.text ?? "", "test"]
            let output =
                "TAP version 13\n1..1\nnot ok 1 - x\nrunning 1 test\ntest a ... ok\n\ntest result: ok. 1 passed; 0 failed;\n"
            let results = try await outer.results(of: [Played(step: .testing, arguments: arguments, output: output)])
            #expect(results.verdict == .succeeded, "\(results.reason ?? "")")
        }

        @Test(
            .proves(
                .reports,
                "A usual command whose test process ended with 0 before its end is red, also before its first test; a script of npm that runs no test is red"
            ),
            arguments: [
                (
                    ProjectType.go,
                    "=== RUN   TestA\n--- PASS: TestA (0.00s)\n=== RUN   TestB\nok  \tacme.example/kit\t0.005s\n"
                ),
                (.cmake, "Test project /x\n    Start 1: a\n"),
            ])
        func testThatATestThatEndsItsProcessWith0HasCrashed(type: ProjectType, output: String) async throws {
            // given
            let arguments = ["/bin/sh", "-c", type.profile.test?.text ?? "", "test"]
            // when
            let results = try await outer.results(of: [Played(step: .testing, arguments: arguments, output: output)])
            // then
            #expect(results.verdict == .testFailures)
            #expect(results.tests.filter { $0.outcome == .crashed }.count == 1)
        }

        @Test(
            .proves(
                .issueHistory,
                "A test's output that looks like another test's result is ignored; real failures beside it count"),
            arguments: [(log, nil, 0), (log, passing, 1), ("", failing, 0), (log, failing, 0), ("", nil, 1)])
        func testThatWhatMayBeTrueStaysRed(output: String, report: String?, exit: Int) async throws {
            let results = try await outer.results(of: [
                Played(step: .testing, output: output, exit: Int32(exit), report: report)
            ])
            #expect(results.verdict == .testFailures)
        }
    }
}
