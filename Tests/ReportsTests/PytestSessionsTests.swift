import Model
import TestSupport
import Testing

@testable import Reports

/// Sessions of pytest in a console, beside other tools.
@Suite struct PytestSessionsTests {
    private static let begin = """
        ============================= test session starts ==============================
        platform linux -- Python 3.11.2, pytest-7.2.1, pluggy-1.0.0+repack
        rootdir: /kit
        collected 2 items

        test_kit.py
        """
    private static let end = " ..                                                          [100%]\n\n"
    private static let summary =
        "============================== 2 passed in 0.01s ===============================\n"
    private static let session = begin + end + summary
    private static let failingGo = "--- FAIL: TestA (0.00s)\n    a_test.go:3: no\nFAIL\nFAIL\tkit/a\t0.1s\n"
    private static let junit = """
        <testsuites><testsuite name="pytest" errors="0" failures="0" tests="1"><testcase classname="test_kit" name="test_a"/>
        </testsuite></testsuites>
        """
    private static let goEvents = """
        {"Action":"run","Package":"k","Test":"TestA"}
        {"Action":"pass","Package":"k","Test":"TestA","Elapsed":0}
        {"Action":"pass","Package":"k","Elapsed":0}
        """

    /// Returns the results of other consoles than Swift's. With a report they are read beside it.
    private func others(_ text: String, report: String? = nil) -> [ReportContent] {
        let root = SourceRoot(mountedAt: "/kit")
        let content = report.map { ReportReader.read(Array($0.utf8), fileName: "a", root: root) }
        var reading = ConsoleReading(
            .tests, root: root, listed: [], hasEvents: content != nil, tools: content?.tool.map { [$0] })
        Array(text.utf8).withUnsafeBytes { reading.consume($0) }
        return reading.finish().others
    }

    private func failures(_ contents: [ReportContent]) -> [String] {
        contents.flatMap(\.tests).filter(\.outcome.isFailure).map(\.fullName)
    }

    @Test(
        .proves(.steps, "A passing report hides no failure that another tool of the step printed"),
        arguments: [session + failingGo, failingGo + session, "\u{1B}[1m" + session + failingGo])
    func testThatAPassingReportHidesNoFailureOfAnotherTool(text: String) {
        #expect(failures(others(text, report: Self.junit)) == ["kit/a/TestA"])
    }

    @Test(
        .proves(.steps, "A passing report hides no failure that another tool of the step printed"),
        arguments: [
            // A test of pytest printed it (`-s`), or pytest itself within a session.
            begin + "\n" + failingGo + end + summary,
            begin + "\n" + session + failingGo + end + summary,
            // Without the beginning or the end of a session this cannot be decided.
            failingGo, begin + "\n" + failingGo,
        ])
    func testThatWhatATestOfPytestPrintedIsNoTest(text: String) {
        #expect(failures(others(text, report: Self.junit)) == [])
    }

    @Test func testThatAReportOfAnUnknownToolMaySpeakOfAnyConsole() {
        let report = #"<testsuite name="K"><testcase classname="K" name="a"/></testsuite>"#
        #expect(others(Self.session + Self.failingGo, report: report).isEmpty)
    }

    @Test(.proves(.steps, "A passing report hides no failure that another tool of the step printed"))
    func testThatAReportOfGoHidesNoFailureOfCTest() {
        let ctest =
            "Test project /b\n1/1 Test #1: a ....***Failed    0.00 sec\n\n0% tests passed, 1 tests failed out of 1\n"
        #expect(failures(others(Self.failingGo + ctest, report: Self.goEvents)) == ["a"])
    }

    @Test(
        .proves(.steps, "A session of pytest that breaks off is red without a report, too"),
        arguments: [
            "collected 2 items", "collecting ... collected 2 items", "collected 3 items / 1 deselected / 2 selected",
        ])
    func testThatASessionWhoseProcessEndedInATestIsMissed(collected: String) {
        // given, when: os._exit(0)
        let contents = others(Self.begin.replacing("collected 2 items", with: collected) + "\n")
        // then
        #expect(contents.flatMap(\.problems) == ["the output of pytest ends before its tests do"])
    }

    @Test(
        .proves(.steps, "A session of pytest that breaks off is red without a report, too"),
        arguments: [
            session, begin + end + "============ 1 failed, 1 passed, 2 warnings in 61.20s (0:01:01) ============\n",
            begin + end + "Results (0.02s):\n       2 passed\n",
            begin.replacing("collected 2 items", with: "collected 0 items")
                + "\n============================ no tests ran in 0.01s =============================\n",
            // A forked process of a test has printed buffered output again.
            begin + "\n" + session,
            // The program that filters the output keeps only the beginning.
            begin.replacing("collected 2 items", with: "plugins: cov"),
        ])
    func testThatASessionThatEndedIsNone(text: String) {
        #expect(others(text).isEmpty)
    }
}
