import Foundation
import Reports
import TestSupport

/// Inputs that are made to be slow, and inputs of twice the length. The time must grow with the length, not with its square.
enum Growth {
    /// The beginning of the input, the part that is repeated, and the difference between repetitions.
    static let shapes: [(name: String, head: String, unit: String)] = [
        ("JUnit, cases", "<testsuite name='a'>", "<testcase name='t#'><failure>x</failure></testcase>\n"),
        ("JUnit, equal cases", "<testsuite name='a'>", "<testcase name='t'/>\n"),
        ("JUnit, open suites", "", "<testsuite name='#'>"),
        ("JUnit, one text", "<testsuite><testcase name='a'><failure>", "&amp;x"),
        ("NUnit", "<test-run><test-suite>", "<test-case name='t#' result='Failed'/>"),
        ("TRX", "<TestRun xmlns='TeamTest'><Results>", "<UnitTestResult testId='#' testName='t#' outcome='Failed'/>"),
        ("checkstyle", "<checkstyle><file name='a'>", "<error line='#' message='m'/>"),
        ("Cobertura", "<coverage line-rate='1'>", "<class filename='a'><line number='#' hits='1'/></class>"),
        ("SARIF", "{\"version\":\"2.1.0\",\"runs\":[{\"results\":[", "{\"message\":{\"text\":\"m#\"}},"),
        ("JSON, open arrays", "", "["),
        (
            "event stream", "",
            "{\"kind\":\"test\",\"version\":0,\"payload\":{\"kind\":\"function\",\"id\":\"A.b#()\"}}\n"
        ),
        ("TAP, points", "TAP version 14\n", "not ok # - a\n"),
        ("TAP, children", "TAP version 14\n", "    ok - a\nok - b\n"),
        ("TAP, comments", "TAP version 14\nnot ok 1\n", "# x\n"), ("TAP, braces", "TAP version 14\nok\n", "{\n"),
        ("go, started", "", "=== RUN   T#\n"), ("go, packages", "", "--- FAIL: T# (0.1s)\nFAIL\tp#\t0.1s\n"),
        ("go, output", "=== RUN   T\n", "x\n"), ("cargo, binaries", "", "running 1 test\ntest a# ... FAILED\n"),
        ("cargo, output", "running 1 test\ntest a ... FAILED\n---- a stdout ----\n", "x\n"),
        ("ctest", "Test project /b\n", "1/2 Test ##: a# ....***Failed 0.01 sec\nx\n"),
        ("sanitizer, reports", "", "==1==ERROR: AddressSanitizer: a# on address 0x1\n    #0 0x1 in f /kit/a.c:#\n"),
        ("sanitizer, one title", "==1==ERROR: AddressSanitizer: x", " at 0x#"),
        (
            "event stream, skipped suites",
            "{\"kind\":\"test\",\"version\":0,\"payload\":{\"kind\":\"function\",\"id\":\"A.b()\"}}\n",
            "{\"kind\":\"event\",\"version\":0,\"payload\":{\"kind\":\"testSkipped\",\"testID\":\"A.X#\"}}\n"
        ),
        ("XML, attributes", "<testsuite name='s'><testcase ", "a#='1' "),
        ("XCTest, one name in many classes", "", "[1/2] Testing A.B#/c\n"),
        ("Swift Testing, one name", "◇ Test run started.\n", "◇ Test x() started.\n"),
        ("go, a package that fails again", "--- PASS: T (0.1s)\n", "FAIL\tp\t0.1s\n"),
        ("sanitizer, leaks", "==1==ERROR: LeakSanitizer: detected memory leaks\n", "Direct leak of # byte(s)\n"),
        ("lcov", "SF:a\n", "DA:#,1\n"), ("lcov, files", "", "SF:a#\nDA:1,1\nend_of_record\n"),
        ("lines, ruff", "", "a.py:#:1: F401 x\n"), ("lines, brackets", "a.py:1:1: x", " [a-b"),
        ("lines, parentheses", "a", "(1,2):"),
        ("line of :", "", ":"), ("line of (", "", "("), ("line of a", "", "a"), ("line of #", "ok 1 ", "#"),
        ("line of ]", "", "] "),
        ("diagnostics", "", "a.c:#:2: warning: m [-Wx]\n"), ("rust", "", "warning: m#\n --> a.rs:#:1\n"),
    ]

    /// The units of the small input. The large one has four times as many, so that constant costs weigh less.
    static let units = 6000

    static func run() -> Bool {
        print("shape\tbytes\tms\tfour times\tratio")
        var isGood = true
        for shape in shapes {
            let (first, bytes) = cost(shape, units: units)
            let (second, _) = cost(shape, units: units * 4)
            // Times below a few milliseconds are not meaningful.
            let ratio = second / max(first, 0.002)
            if ratio > 9 { isGood = false }
            print(
                "\(shape.name)\t\(bytes)\t" + String(format: "%.1f\t%.1f\t%.1f", first * 1000, second * 1000, ratio)
                    + (ratio > 9 ? "\tMORE THAN LINEAR" : ""))
            fflush(nil)
        }
        return isGood
    }

    /// Returns the best of three times, as a report and as a console.
    private static func cost(_ shape: (name: String, head: String, unit: String), units: Int) -> (Double, Int) {
        var text = shape.head
        for number in 1...units { text += shape.unit.replacingOccurrences(of: "#", with: "\(number)") }
        let bytes = Array(text.utf8)
        var best = Double.infinity
        for _ in 0..<3 {
            let start = threadSeconds()
            _ = ReportReader.read(bytes, fileName: "a", root: FileTable.root)
            _ = DiagnosticReader.findings(in: bytes, root: FileTable.root)
            best = min(best, threadSeconds() - start)
        }
        return (best, bytes.count)
    }
}
