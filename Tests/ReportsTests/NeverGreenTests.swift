import Model
import TestSupport
import Testing

@testable import Reports

/// Reports that look green and are not. Each sign of a failure makes a failed test or a problem.
@Suite struct NeverGreenTests {
    /// - `says`: A part of a problem, or the name and outcome of a failed test.
    struct Row: Sendable, CustomTestStringConvertible {
        var name: String
        var text: String
        var says: String
        var testDescription: String { name }

        init(_ name: String, _ text: String, says: String) { (self.name, self.text, self.says) = (name, text, says) }
    }

    private static let pass = "<testcase classname='A' name='a'/>"
    private static let fail = "<testcase classname='A' name='a'><failure message='no'/></testcase>"
    private static let event = #"{"version":0,"kind":"event","payload":{"kind":"#
    private static let function =
        #"{"version":0,"kind":"test","payload":{"id":"K.S/a()/f.swift:1:1","kind":"function","name":"a()"}}"# + "\n"
    private static let cargo = "test result: ok. 1 passed; 0 failed; 0 ignored;\n"
    private static let all = "Test Suite 'All tests'"

    /// Different tests of one name. None of them was run again until it passed.
    static let namesakes = [
        Row("JUnit, rows of a test", "<testsuite failures='1'>\(fail)\(pass)</testsuite>", says: "a failed"),
        Row(
            "JUnit, two suites",
            "<testsuites><testsuite>\(fail)</testsuite><testsuite>\(pass)</testsuite></testsuites>",
            says: "a failed"),
        Row("JUnit, beneath the root", "<testsuites>\(fail)\(pass)</testsuites>", says: "a failed"),
        Row(
            "JUnit, with another between", "<testsuite>\(fail)<testcase classname='A' name='b'/>\(pass)</testsuite>",
            says: "a failed"),
        Row(
            "Node, in two suites",
            """
            <testsuites><testsuite name='GET /a' failures='1'><testcase name='returns 200' classname='test'><failure/></testcase>
            </testsuite><testsuite name='GET /b'><testcase name='returns 200' classname='test'/></testsuite></testsuites>
            """, says: "returns 200 failed"),
        Row(
            "cargo, library and program on one console",
            "running 1 test\ntest t::works ... FAILED\n\ntest result: FAILED. 0 passed; 1 failed; 0 ignored;\n"
                + "running 1 test\ntest t::works ... ok\n\n\(cargo)", says: "t::works failed"),
        Row(
            "CTest, two directories",
            "Test project /b\n 1/2 Test #1: a .....***Failed 0.01 sec\n 2/2 Test #2: a ....   Passed    0.00 sec\n\n"
                + "50% tests passed, 1 tests failed out of 2\n", says: "a failed"),
        Row(
            "CTest's own file, two directories",
            """
            <Site><Testing><TestList><Test>./a/u</Test><Test>./b/u</Test></TestList>
            <Test Status='failed'><Name>u</Name><Path>.</Path></Test><Test Status='passed'><Name>u</Name><Path>.</Path></Test>
            </Testing></Site>
            """, says: "u failed"),
        Row(
            "go test -count 2",
            """
            {"Action":"run","Package":"k","Test":"TestA"}
            {"Action":"fail","Package":"k","Test":"TestA"}
            {"Action":"run","Package":"k","Test":"TestA"}
            {"Action":"pass","Package":"k","Test":"TestA"}
            {"Action":"fail","Package":"k"}
            """, says: "TestA failed"),
    ]

    /// A failure that no case has, or one at another place than usual.
    static let elsewhere = [
        Row(
            "JUnit, a case within another",
            "<testsuite><testcase name='outer'><failure/>\(pass)</testcase></testsuite>", says: "outer failed"),
        Row(
            "JUnit, a case within another, before its failure",
            "<testsuite name='s'><testcase name='outer'>\(pass)<failure/></testcase></testsuite>",
            says: "(suite) failed"),
        Row(
            "JUnit, the root", "<testsuites><failure message='no'/><testsuite>\(pass)</testsuite></testsuites>",
            says: "(suite) failed"),
        Row(
            "JUnit, PHPUnit's warning",
            "<testsuite><testcase name='w'><warning>No tests found</warning></testcase></testsuite>", says: "w failed"),
        Row("JUnit, timeout", "<testsuite><testcase name='w' status='timeout'/></testsuite>", says: "w failed"),
        Row(
            "JUnit, timed out", "<testsuite><testcase name='w' status='run' result='timed_out'/></testsuite>",
            says: "w failed"),
        Row("JUnit, broken", "<testsuite><testcase name='w' status='Broken'/></testsuite>", says: "w failed"),
        Row("JUnit, aborted", "<testsuite><testcase name='w' result='aborted'/></testsuite>", says: "w failed"),
        Row("JUnit, interrupted", "<testsuite><testcase name='w' result='interrupted'/></testsuite>", says: "w failed"),
        Row(
            "NUnit 2, a fixture's end",
            """
            <test-results><test-suite name='F' executed='True' result='Error'><failure><message>TearDown : no</message></failure>
            <results><test-case name='K.F.A' executed='True' result='Success'/></results></test-suite></test-results>
            """, says: "(suite) failed"),
        Row(
            "NUnit 2, a fixture's end beside a case that failed",
            """
            <test-results><test-suite name='F' result='Error'><failure><message>TearDown : no</message></failure>
            <results><test-case name='K.F.A' executed='True' result='Failure'/></results></test-suite></test-results>
            """, says: "(suite) failed"),
        Row(
            "NUnit 2, a suite of whose failed case nothing is told",
            """
            <test-results><test-suite name='F' result='Error'><failure><message>One or more child tests had errors</message></failure>
            <results><test-case name='K.F.A' executed='True' result='Success'/></results></test-suite></test-results>
            """, says: "(suite) failed"),
        Row(
            "TAP, YAML without an end in which results follow each other",
            "TAP version 14\n1..2\nok 1 - a\n  ---\n  log: |\n    ok 1 - x\n    not ok 2 - inner\n    1..2\nok 2 - b\n",
            says: "inner failed"),
        Row(
            "NUnit 3, an assembly that is not there",
            """
            <test-run><test-suite type='Assembly' fullname='k.dll' result='Skipped' label='Invalid'><reason><message>not found</message>
            </reason></test-suite></test-run>
            """, says: "(suite) failed"),
        Row(
            "xUnit.net 1, a class",
            """
            <assembly name='k.dll'><class name='K.F'><failure><message>dispose failed</message></failure>
            <test name='K.F.A' type='K.F' result='Pass'/></class></assembly>
            """, says: "(suite) failed"),
        Row(
            "cargo, events of tests after the build's messages",
            """
            {"reason":"compiler-artifact","package_id":"kit 0.1.0"}
            {"reason":"build-finished","success":true}
            { "type": "suite", "event": "started", "test_count": 1 }
            { "type": "test", "event": "started", "name": "a" }
            { "type": "test", "name": "a", "event": "failed", "stdout": "boom" }
            { "type": "suite", "event": "failed", "passed": 0, "failed": 1, "ignored": 0 }
            """, says: "a failed"),
        Row("cargo, a build that failed", #"{"reason":"build-finished","success":false}"#, says: "build failed"),
        Row("TAP, a # within a word", "1..1\nnot ok 1 - GET /list#todos returns all", says: "failed"),
        Row("TAP, a # before a longer word", "1..1\nnot ok 1 - link #skiplinks are drawn", says: "failed"),
        Row("TAP, a # before prose", "1..1\nnot ok 1 - #skyblue # skipped frames counter", says: "failed"),
        // TODO is a directive of the format (TAP 14, "Directives"), not a note in our code. Longer words are no directives.
        Row("TAP, a # before TODOLIST", "1..1\nnot ok 1 - x # TODOLIST fails", says: "failed"),
        Row(
            "TAP, YAML that breaks off",
            """
            TAP version 14
            1..2
            ok 1 - a
              ---
              message: unfinished
                # Subtest: b
                not ok 1 - inner
                1..1
            ok 2 - b
            """, says: "inner failed"),
        Row(
            "go test -json after a mark of byte order",
            "\u{FEFF}" + #"{"Action":"fail","Package":"k","Test":"TestA"}"# + "\n"
                + #"{"Action":"fail","Package":"k"}"#,
            says: "TestA failed"),
        Row(
            "events of cargo after a mark of byte order",
            "\u{FEFF}" + #"{"type":"suite","event":"started","test_count":1}"# + "\n"
                + #"{"type":"test","event":"failed","name":"a"}"# + "\n"
                + #"{"type":"suite","event":"failed","passed":0,"failed":1,"ignored":0}"#, says: "a failed"),
    ]

    /// Output of tests after other output, so that the first lines do not show the format.
    static let below = [
        Row(
            "go test -json after a compiler's warning",
            "# kit/cgo\n./x.c:3:2: warning: unused variable 'y' [-Wunused-variable]\n"
                + #"{"Action":"fail","Package":"k","Test":"TestA"}"# + "\n" + #"{"Action":"fail","Package":"k"}"#,
            says: "TestA failed"),
        Row(
            "swift test after 3000 lines of a build",
            "a.c:1:2: warning: x [-Wx]\n" + String(repeating: "[1/2] Compiling\n", count: 3000)
                + "\(all) started at x\nTest Case 'A.b' started at x\nTest Case 'A.b' failed (0.1 seconds)\n\(all) failed at x\n",
            says: "b failed"),
        Row(
            "swift test after a sanitizer's line",
            "a.c:1:2: runtime error: signed integer overflow: 1\n"
                + "\(all) started at x\nTest Case 'A.b' started at x\nTest Case 'A.b' failed (0.1 seconds)\n\(all) failed at x\n",
            says: "b failed"),
    ]

    /// Counts and summaries that contradict the tests.
    static let contradictions = [
        Row("JUnit's root", "<testsuites failures='3'><testsuite tests='3'/></testsuites>", says: "counts failures"),
        Row("NUnit 2", "<test-results failures='2'></test-results>", says: "counts failures"),
        Row("NUnit 3", "<test-run result='Failed' failed='5'></test-run>", says: "counts failures"),
        Row("NUnit 3, by its word alone", "<test-run result='Failed'></test-run>", says: "counts failures"),
        Row(
            "xUnit.net",
            "<assemblies><assembly name='k' failed='3' errors='1'><collection><test name='a' result='Pass'/></collection></assembly></assemblies>",
            says: "counts failures"),
        Row(
            "TRX",
            """
            <TestRun xmlns='http://microsoft.com/schemas/VisualStudio/TeamTest/2010'><Results>
            <UnitTestResult testId='1' testName='A' outcome='Passed'/></Results>
            <ResultSummary outcome='Completed'><Counters total='3' passed='1' failed='2'/></ResultSummary></TestRun>
            """, says: "counts failures"),
        Row(
            "CTest's own file",
            """
            <Site><Testing><TestList><Test>./a</Test><Test>./b</Test></TestList><Test Status='passed'><Name>a</Name><Path>.</Path>
            </Test></Testing></Site>
            """, says: "2 tests listed, but 1 came"),
        Row(
            "XCTest's summary",
            "\(all) started at x\nTest Case 'A.b' started at x\nTest Case 'A.b' passed (0.1 seconds)\n\(all) failed at x\n"
                + "\t Executed 3 tests, with 1 test skipped and 2 failures (0 unexpected) in 0.1 (0.1) seconds\n",
            says: "XCTest reports failed tests"),
        Row(
            "Swift Testing's summary",
            "◇ Test run started.\n◇ Test a() started.\n✔ Test a() passed after 0.001 seconds.\n"
                + "✘ Test run with 1 test in 0 suites failed after 0.001 seconds with 1 issue.\n",
            says: "Swift Testing reports a failed run"),
    ]

    /// Reports that break off between two tests.
    static let cut = [
        Row(
            "go test -json, after a package began",
            """
            {"Action":"start","Package":"kit/a"}
            {"Action":"pass","Package":"kit/a"}
            {"Action":"start","Package":"kit/b"}
            {"Action":"output","Package":"kit/b","Output":"starting\\n"}
            """, says: "kit/b"),
        Row("an event stream before its run", function, says: "before its test run begins"),
        Row(
            "an event stream in a second run",
            function + event + #""runStarted"}}"# + "\n" + event + #""runEnded"}}"# + "\n" + event + #""runStarted"}}"#,
            says: "before its test run does"),
        Row(
            "XCTest's console",
            "\(all) started at x\nTest Case 'A.b' started at x\nTest Case 'A.b' passed (0.1 seconds)\n",
            says: "ends before its run does"),
        Row(
            "Swift Testing's console",
            "◇ Test run started.\n◇ Test a() started.\n✔ Test a() passed after 0.001 seconds.\n",
            says: "ends before its run does"),
        Row("XML, text after the root", "<testsuite>\(pass)</testsuite>\n garbage < text", says: "after the root"),
        Row("XML, ends after the root", "<testsuite>\(pass)</testsuite>\n</testsuite>", says: "after the root"),
        Row(
            "XML, the end of another report",
            "<testsuite>\(pass)</testsuite>uite><testcase name='b'><failure/></testcase></testsuite>",
            says: "after the root"),
    ]

    /// Analyses that did not take place, or not completely.
    static let unclean = [
        Row("SARIF without a run", #"{"version":"2.1.0","runs":[]}"#, says: "holds no run"),
        Row(
            "SARIF, results that are none",
            #"{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"t"}},"results":[null,"x",7]}]}"#,
            says: "result 1 of t is not an object"),
        Row(
            "SARIF, a notification of an error",
            #"{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"t"}},"invocations":[{"executionSuccessful":true,"#
                + #""toolConfigurationNotifications":[{"level":"error","message":{"text":"no rules"}}]}],"results":[]}]}"#,
            says: "t reports about itself: no rules"),
        Row(
            "golangci-lint", #"{"Issues":[],"Report":{"Error":"no types","Linters":[{"Name":"vet"}]}}"#,
            says: "no types"),
        Row("eslint", #"[{"filePath":"/k/a.js","messages":[],"errorCount":3}]"#, says: "it counts 3 errors"),
    ]

    @Test(
        .proves(.reports, "A report that tells of a failure anywhere, breaks off or contradicts itself is not green"),
        arguments: [namesakes, elsewhere, below, contradictions, cut, unclean].joined())
    func testThatItIsNotGreen(row: Row) {
        let content = ReportReader.read(Array(row.text.utf8), fileName: "a", root: SourceRoot(mountedAt: "/k"))
        let failed = content.tests.filter(\.outcome.isFailure).map { "\($0.name) \($0.outcome.rawValue)" }
        #expect(
            (failed + content.problems).contains { $0.contains(row.says) },
            "\(content.problems) \(content.tests.map { [$0.fullName, $0.outcome.rawValue] })")
    }

    @Test func testThatALinkersErrorWithoutAPlaceIsAFinding() {
        let text = """
            {"reason":"compiler-message","message":{"level":"error","message":"linking with `cc` failed","spans":[],"code":null}}
            {"reason":"compiler-message","message":{"level":"error","message":"aborting due to 1 previous error","spans":[]}}
            {"reason":"build-finished","success":false}
            """
        let content = ReportReader.read(Array(text.utf8), fileName: "a", root: SourceRoot(mountedAt: "/k"))
        #expect(content.findings == [Finding(category: .error, message: "linking with `cc` failed")])
    }

    /// `add` and `addAll` are two tests, and one's result does not belong to the other.
    @Test(.proves(.reports, "A report that tells of a failure anywhere, breaks off or contradicts itself is not green"))
    func testThatAFailureIsKeptBesideOneWhoseNameBeginsAlike() {
        func result(_ name: String, _ outcome: TestResult.Outcome) -> TestResult {
            TestResult(suite: "S", name: name, outcome: outcome)
        }
        let events = [result("add", .passed), result("add (2)", .passed), result("addAll", .failed)]
        let merged = TestMerge.merge([events, [result("add", .failed)]])
        #expect(merged.first { $0.name == "add" }?.outcome == .failed)
    }
}
