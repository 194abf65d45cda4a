import Model
import TestSupport
import Testing

@testable import Reports

/// Reports that look red and are not, and the messages about them.
@Suite struct NeverRedTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var name: String
        var text: String
        var outcomes: [TestResult.Outcome]
        var testDescription: String { name }

        init(_ name: String, _ text: String, _ outcomes: TestResult.Outcome...) {
            (self.name, self.text, self.outcomes) = (name, text, outcomes)
        }
    }

    static let rows = [
        // TODO is a directive of the format (TAP 14, "Directives"), not a note in our code.
        Row(
            "TAP, a result in a text of YAML",
            """
            TAP version 14
            1..2
            ok 1 - a
              ---
              log: |
                not ok 9 - no
                1..3
              ...
            not ok 2 - b # TODO later
              ---
              log: |
                ok 9 - yes
              ...
            """, .passed, .knownIssue),
        Row(
            "NUnit 2, suites that only say that a case failed",
            """
            <test-results total='2' errors='1' failures='0'><test-suite type='Assembly' name='a' result='Failure'>
            <failure><message>One or more child tests had errors</message></failure><results>
            <test-suite type='TestFixture' name='F' result='Failure'><failure><message>One or more child tests had errors</message></failure>
            <results><test-case name='F.t' executed='True' result='Error'><failure><message>no</message></failure></test-case>
            <test-case name='F.u' executed='True' result='Success'/></results></test-suite></results></test-suite></test-results>
            """, .failed, .passed),
        Row(
            "go test without -v", "ok  \tk/a\t0.1s\nok  \tk/b\t(cached)\n?   \tk/c\t[no test files]\n", .passed, .passed
        ),
        Row(
            "go test, benchmarks",
            "=== RUN   TestA\n--- PASS: TestA (0.00s)\n=== RUN   BenchmarkB\nBenchmarkB\nBenchmarkB-8   \t 100\t 12 ns/op\nPASS\nok  \tk\t0.1s\n",
            .passed),
        Row(
            "Node, a todo that fails",
            """
            <testsuites><testsuite name='s' failures='1'><testcase name='a' classname='test' failure='1 == 2'>
            <skipped type='todo' message='true'/><failure type='testCodeFailure' message='1 == 2'>e</failure></testcase></testsuite>
            </testsuites>
            """, .knownIssue),
        Row(
            "JUnit, a case run again at once until it passed",
            """
            <testsuite failures='0'><testcase name='a'><failure/></testcase><testcase name='a'><error/></testcase>
            <testcase name='a'/></testsuite>
            """, .flaky),
        Row(
            "JUnit, only the failures of runs before",
            "<testsuite failures='0'><testcase name='a'><rerunFailure message='first try'>x</rerunFailure></testcase></testsuite>",
            .flaky),
        Row(
            "go test, a package that passed when run again",
            """
            {"Action":"run","Package":"k","Test":"TestA"}
            {"Action":"fail","Package":"k","Test":"TestA"}
            {"Action":"fail","Package":"k"}
            {"Action":"run","Package":"k","Test":"TestA"}
            {"Action":"pass","Package":"k","Test":"TestA"}
            {"Action":"pass","Package":"k"}
            """, .flaky),
        Row(
            "cargo, a test that takes more than a minute",
            """
            { "type": "suite", "event": "started", "test_count": 1 }
            { "type": "test", "event": "started", "name": "slow" }
            { "type": "test", "event": "timeout", "name": "slow" }
            { "type": "test", "name": "slow", "event": "ok" }
            { "type": "suite", "event": "ok", "passed": 1, "failed": 0, "ignored": 0 }
            """, .passed),
        Row(
            "cargo --nocapture, output without a line feed before the result",
            "running 1 test\ntest tests::works ... hiok\n\ntest result: ok. 1 passed; 0 failed; 0 ignored;\n", .passed),
        Row(
            "cargo --nocapture, output without a line feed before the next test",
            "running 2 tests\ntest a ... hellook\nbytest b ... ok\n\ntest result: ok. 2 passed; 0 failed; 0 ignored;\n",
            .passed, .passed),
        Row(
            "cargo, other words after ok",
            "running 1 test\ntest a ... ok (gas usage 12)\n\ntest result: ok. 1 passed; 0 failed; 0 ignored;\n", .passed
        ),
        Row(
            "cargo, a result lost in output",
            "running 1 test\ntest a ... \u{1}\u{2}\n\ntest result: ok. 1 passed; 0 failed; 0 ignored;\n", .passed),
        Row(
            "go test -v, output without a line feed before the result",
            "=== RUN   TestA\n--- PASS: TestA (0.00s)\n=== RUN   TestB\nno line feed--- PASS: TestB (0.00s)\nPASS\nok  \tk\t0.1s\n",
            .passed, .passed),
        Row(
            "go test -json of 1.19, output without a line feed before the result",
            #"""
            {"Action":"run","Package":"k","Test":"TestB"}
            {"Action":"output","Package":"k","Test":"TestB","Output":"=== RUN   TestB\n"}
            {"Action":"output","Package":"k","Test":"TestB","Output":"no newline--- PASS: TestB (0.00s)\n"}
            {"Action":"run","Package":"k","Test":"TestC"}
            {"Action":"fail","Package":"k","Test":"TestC"}
            {"Action":"fail","Package":"k"}
            """#, .failed, .passed),
        // TODO is a directive of the format (TAP 14, "Directives"), not a note in our code.
        Row("TAP, a time before the directive", "1..1\nnot ok 1 - b # time=2ms # TODO later", .knownIssue),
        Row(
            "TAP, two programs one after the other",
            "TAP version 13\n1..1\nok 1 - a\nTAP version 13\n1..2\nok 1 - b\nok 2",
            .passed, .passed, .passed),
        Row(
            "TAP, two programs with their plans at the end", "ok 1 - a\nok 2\n1..2\nok 1 - b\n1..1", .passed, .passed,
            .passed),
        Row("TAP, a plan from 0 on", "TAP Version 13\nok - a\nok - b\n0..2", .passed, .passed),
        Row("TAP, a program that skips all before another", "1..0 # skip\n1..1\nok 1", .passed),
        Row("TAP, a # in the reason", "1..1\nnot ok 1 - b # TODO see #12", .knownIssue),
    ]

    @Test(.proves(.reports, "A report without a failure is not red"), arguments: rows)
    func testThatItIsAsGoodAsItIs(row: Row) {
        let content = ReportReader.read(Array(row.text.utf8), fileName: "a", root: SourceRoot(mountedAt: "/k"))
        #expect(content.tests.map(\.outcome) == row.outcomes, "\(content.tests.map(\.fullName))")
        #expect(content.problems == [])
    }

    @Test func testThatAnAnalyzersWarningOfItselfIsNoFailure() {
        let text = #"{"errors":[{"level":"warn","message":"Syntax error at line x"}],"results":[]}"#
        let content = ReportReader.read(Array(text.utf8), fileName: "a", root: SourceRoot(mountedAt: "/k"))
        #expect(content.problems == [])
        #expect(content.notes.first == "a: the analyzer warns: Syntax error at line x")
    }

    @Test func testThatLinesThatBeginWithAnUnknownFileAreNoXML() {
        let text = "<unknown>:0: warning: x\n/k/a.c:1:2: warning: y [-Wy]\n"
        let content = ReportReader.read(Array(text.utf8), fileName: "a", root: SourceRoot(mountedAt: "/k"))
        #expect(content.problems == [])
        #expect(content.findings.contains { $0.path == "a.c" && $0.line == 1 })
    }

    /// libxml2 accepts at most 10,000,000 bytes at once; reports of 64 MiB are supported.
    @Test(.proves(.reports, "A report without a failure is not red"))
    func testThatALargeReportOfXMLIsReadToItsEnd() {
        let output = String(repeating: "x", count: 200_000)
        let cases = (0..<300).map { "<testcase name='t\($0)'><system-out>\(output)</system-out></testcase>\n" }
        let xml = "<testsuite>\(cases.joined())<testcase name='last'><failure/></testcase></testsuite>"
        let content = ReportReader.read(Array(xml.utf8), fileName: "a", root: SourceRoot(mountedAt: "/k"))
        #expect(xml.utf8.count > 60_000_000)
        #expect(content.problems == [])
        #expect(content.tests.count == 301)
        #expect(content.tests.last?.outcome == .failed)
    }

    @Test func testThatALongOutputInOneSectionIsRead() {
        // given: 12 MB of one test's output, with sequences that must not be cut in two
        let output = String(repeating: "€]]é]", count: 1_200_000)
        let xml =
            "<testsuite><testcase name='a'><system-out><![CDATA[\(output)]]></system-out></testcase>"
            + "<testcase name='b'><failure><![CDATA[€ no]]></failure></testcase></testsuite>"
        // when
        let content = ReportReader.read(Array(xml.utf8), fileName: "a", root: SourceRoot(mountedAt: "/k"))
        // then
        #expect(content.problems == [])
        #expect(content.tests.map(\.outcome) == [.passed, .failed])
        #expect(content.tests.last?.message == "€ no")
    }

    /// Reading in pieces cuts no character and no name in two.
    @Test func testThatNoPieceOfALargeReportCutsAnything() {
        let text = "é" + String(repeating: "€é", count: 700)
        let cases = (0..<500).map { "<testcase classname='ä\($0)' name='ö'><failure>\(text)</failure></testcase>" }
        let xml = "<testsuite>\(cases.joined())</testsuite>"
        let content = ReportReader.read(Array(xml.utf8), fileName: "a", root: SourceRoot(mountedAt: "/k"))
        #expect(content.problems == [])
        #expect(content.tests.map(\.suite) == (0..<500).map { "ä\($0)" })
        #expect(content.tests.allSatisfy { $0.message == text && $0.name == "ö" })
    }

    @Test func testThatNumbersAndTextsAreWhatTheyCanBe() {
        // given: lines that are no results, and NUL
        let junit =
            "<testsuite><testcase name='a' file='a.c' line='9223372036854775807'><failure/></testcase></testsuite>"
        let sarif =
            #"{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"t"}},"results":[{"ruleId":"a\u0000b","message":{"text":"x\u0000y"},"#
            + #""locations":[{"physicalLocation":{"artifactLocation":{"uri":"a%00.c"},"region":{"startLine":8999999999999999}}}]}]}]}"#
        let events = """
            {"version":0,"kind":"test","payload":{"id":"K.S/a()","kind":"function","name":"a()","sourceLocation":{"filePath":"/k/f.swift","line":-5}}}
            {"version":0,"kind":"event","payload":{"kind":"runStarted"}}
            {"version":0,"kind":"event","payload":{"kind":"testStarted","testID":"K.S/a()"}}
            {"version":0,"kind":"event","payload":{"kind":"testEnded","testID":"K.S/a()"}}
            {"version":0,"kind":"event","payload":{"kind":"runEnded"}}
            """
        // when
        let contents = [junit, sarif, events].map {
            ReportReader.read(Array($0.utf8), fileName: "a", root: SourceRoot(mountedAt: "/k"))
        }
        // then
        #expect(contents.flatMap(\.tests).map(\.line) == [nil, nil])
        let finding = contents[1].findings.first
        #expect(finding?.line == nil)
        #expect(finding?.rule == "a\u{FFFD}b")
        #expect(finding?.message == "x\u{FFFD}y")
        #expect(finding?.path == "a\u{FFFD}.c")
    }
}
