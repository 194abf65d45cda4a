import Model
import TestSupport
import Testing

@testable import Reports

@Suite struct JUnitWriterTests {
    private let tests = [
        TestResult(suite: "Kit.A", name: "passes<&>\"", outcome: .passed, duration: .milliseconds(1250)),
        TestResult(
            suite: "Kit.A", name: "fails", outcome: .failed, message: "no\nreally\u{1} <no>", path: "a.swift", line: 3),
        TestResult(suite: "Kit.B", name: "skips", outcome: .skipped, message: "not here"),
        TestResult(suite: "Kit.B", name: "crashes", outcome: .crashed, message: "ended by signal 4 (SIGILL)"),
        TestResult(suite: "", name: "flaky", outcome: .flaky, message: "once"),
        TestResult(suite: "", name: "known", outcome: .knownIssue, message: "bug 12"),
    ]

    private static func bytes(_ configurations: [(name: String, tests: [TestResult])]) -> [UInt8] {
        JUnitWriter.Pieces(configurations).reduce(into: []) { $0 += $1 }
    }

    @Test(.proves(.issueHistory, "SARIF with `baselineState` and JUnit for others"))
    func testThatOurReaderReadsThemBack() throws {
        let content = JUnitReader.read(Self.bytes([("debug", tests)]), root: SourceRoot(mountedAt: "/m"))
        #expect(content.problems == [])
        #expect(TestCounts(of: content.tests) == .init(6, failed: 2, skipped: 2, flaky: 1))
        let passes = try test("passes<&>\"", in: content.tests)
        #expect(passes.suite == "Kit.A")
        #expect(passes.duration == .milliseconds(1250))
        let fails = try test("fails", in: content.tests)
        #expect(fails.message == "no\nreally\u{FFFD} <no>")
        #expect(fails.path == "a.swift")
        #expect(fails.line == 3)
        #expect(try test("known", in: content.tests).message == "known issue: bug 12")
        #expect(try test("flaky", in: content.tests).suite == "debug", "without a suite the configuration is one")
    }

    @Test func testThatCountsAreThoseOfTheTests() {
        let text = String(decoding: Self.bytes([("debug", tests)]), as: UTF8.self)
        #expect(text.contains("<testsuites tests=\"6\" failures=\"1\" errors=\"1\" skipped=\"2\" time=\"1.250\">"))
        #expect(
            text.contains(
                "<testsuite name=\"Kit.B\" tests=\"2\" failures=\"0\" errors=\"1\" skipped=\"1\" time=\"0.000\">"))
        #expect(text.contains("<property name=\"configuration\" value=\"debug\"/>"))
    }

    @Test func testThatNoTestsAreAReportToo() {
        let content = JUnitReader.read(Self.bytes([]), root: SourceRoot(mountedAt: "/m"))
        #expect(content == ReportContent())
    }
}
