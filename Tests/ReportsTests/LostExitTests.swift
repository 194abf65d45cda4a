import Model
import TestSupport
import Testing

@testable import Reports

/// A command that exited with 0 although it failed (`
///  tee`, `
///
///  true`), or whose process ended in the middle. Its output shows that.
@Suite struct LostExitTests {
    typealias Row = NeverGreenTests.Row

    private static let all = "Test Suite 'All tests'"
    private static let run = "=== RUN   TestA\n--- PASS: TestA (0.00s)\n"

    static let rows = [
        Row("go, a test whose process ended", run + "=== RUN   TestB\nok  \tk\t0.1s\n", says: "k/TestB crashed"),
        Row(
            "go, a test that printed PASS before its process ended", run + "=== RUN   TestB\nPASS\nok  \tk\t0.1s\n",
            says: "k/TestB crashed"),
        Row(
            "go, a test that waited for its turn", "=== RUN   TestA\n=== PAUSE TestA\n=== CONT  TestA\nok  \tk\t0.1s\n",
            says: "k/TestA crashed"),
        Row(
            "go, a part of a test",
            "=== RUN   TestA\n=== RUN   TestA/one\nok  \tk\t0.1s\n", says: "k/TestA/one crashed"),
        Row(
            "cargo's output after a line that looks like a test of go",
            "=== RUN   TestX\nrunning 1 test\ntest x ... FAILED\n\ntest result: FAILED. 0 passed; 1 failed; 0 ignored;\n",
            says: "x failed"),
        Row(
            "TAP after a line that looks like a test of cargo", "test x ... \n1..1\nnot ok 1 - broken\n",
            says: "broken failed"),
        Row(
            "XCTest, a run without a test", "\(all) started at x\n\(all) failed at x\n",
            says: "XCTest reports failed tests"),
        Row(
            "XCTest through xcbeautify",
            "\(all) started at x\n    ✖ testB, no\n\(all) passed at x\nTests Failed: 1 failed, 0 skipped, 2 total (0.1 seconds)\n",
            says: "XCTest reports failed tests"),
        Row(
            "Swift Testing through xcbeautify", "Test run with 2 tests failed after 0.001 seconds with 1 issue(s)\n",
            says: "Swift Testing reports a failed run"),
        Row(
            "ctest, fewer tests than announced",
            "Test project /b\n    Start 1: a\n1/3 Test #1: a ....   Passed    0.00 sec\n\n100% tests passed, 0 tests failed out of 3\n",
            says: "ctest announced 3 tests, but 1 came"),
        Row(
            "ctest, a test without an end",
            "Test project /b\n    Start 1: a\n1/2 Test #1: a ....   Passed    0.00 sec\n    Start 2: b\n",
            says: "b crashed"),
        Row(
            "ctest, another project after one that broke off",
            "Test project /b\n    Start 1: a\n1/2 Test #1: a ....   Passed    0.00 sec\n    Start 2: b\n"
                + "Test project /c\n    Start 1: c\n1/1 Test #1: c ....   Passed    0.00 sec\n\n100% tests passed, 0 tests failed out of 1\n",
            says: "ends before"),
        Row("TAP without a version", "1..2\nok 1\nnot ok 2 - broken\n", says: "broken failed"),
        Row(
            "TAP after the end of a color, as go-task prints it",
            "\u{1B}[32mtask: [test] sh kit.sh\n\u{1B}[0m1..2\nok 1\nnot ok 2 - broken\n", says: "broken failed"),
        Row("TAP without a version that breaks off", "1..3\nok 1 - a\n", says: "3 tests planned, but 1 came"),
        Row(
            "cargo, a test without an end", "running 2 tests\ntest a ... ok\ntest b ... \n", says: "b crashed"),
        Row(
            "prove",
            "t/a.t .. ok\nt/b.t .. \nFailed 1/2 subtests \n\nTest Summary Report\n-------------------\n"
                + "t/b.t (Wstat: 256 (exited 1) Tests: 2 Failed: 1)\n  Failed test:  2\nFiles=2, Tests=4,  0 wallclock secs\nResult: FAIL\n",
            says: "t/b.t failed"),
        Row(
            "PHPUnit that breaks off",
            "PHPUnit 10.5.0 by Sebastian Bergmann and contributors.\n\nRuntime:       PHP 8.2.7\n\n..\n",
            says: "the output of PHPUnit ends before its tests do"),
        Row(
            "PHPUnit without its settings that breaks off",
            "PHPUnit 9.6.1 by Sebastian Bergmann and contributors.\n\n...............    15 / 30 ( 50%)\n..\n",
            says: "the output of PHPUnit ends before its tests do"),
        Row(
            "minitest that breaks off", "Run options: --seed 1\n\n# Running:\n\n..\n",
            says: "the output of minitest ends before its tests do"),
        Row(
            "minitest-reporters that breaks off", "Started with run options --seed 1\n\n..\n",
            says: "the output of minitest ends before its tests do"),
        Row(
            "ExUnit that breaks off", "Running ExUnit with seed: 0, max_cases: 2\n\n..\n",
            says: "the output of ExUnit ends before its tests do"),
    ]

    @Test(arguments: rows) func testThatItIsNotGreen(row: Row) {
        // given
        var consoles = ConsoleReading(.tests, root: SourceRoot(mountedAt: "/k"), listed: [], hasEvents: false)
        // when
        Array(row.text.utf8).withUnsafeBytes { consoles.consume($0) }
        let content = consoles.finish()
        // then
        let tests = content.xctest + content.swiftTesting + content.others.flatMap(\.tests)
        let said =
            tests.map { "\($0.fullName) \($0.outcome.rawValue)" } + content.problems
            + content.others.flatMap(\.problems)
        #expect(said.contains { $0.contains(row.says) }, "\(said)")
    }

    @Test func testThatATestOfGoWhosePackageEndedInItHasCrashed() {
        // given: the output of Go 1.19 after syscall.Exit(0) in TestB
        let text = """
            {"Action":"run","Package":"k","Test":"TestA"}
            {"Action":"pass","Package":"k","Test":"TestA","Elapsed":0}
            {"Action":"run","Package":"k","Test":"TestB"}
            {"Action":"output","Package":"k","Test":"TestB","Output":"ok  \\tk\\t0.008s\\n"}
            {"Action":"pass","Package":"k","Test":"TestB","Elapsed":0.012}
            """
        // when
        let content = ReportReader.read(Array(text.utf8), fileName: "a", root: SourceRoot(mountedAt: "/k"))
        // then
        #expect(content.tests.map { "\($0.name) \($0.outcome.rawValue)" } == ["TestA passed", "TestB crashed"])
        #expect(content.problems == [])
    }

    /// Returns the tests of `go test -json` in the form `NAME OUTCOME`.
    private func tests(ofGo lines: [String]) -> [String] {
        let content = ReportReader.read(
            Array(lines.joined(separator: "\n").utf8), fileName: "a", root: SourceRoot(mountedAt: "/k"))
        #expect(content.problems == [])
        return content.tests.map { "\($0.name) \($0.outcome.rawValue)" }
    }

    private static func run(_ test: String) -> String { #"{"Action":"run","Package":"k","Test":"\#(test)"}"# }
    private static func print(_ text: String, in test: String) -> String {
        #"{"Action":"output","Package":"k","Test":"\#(test)","Output":"\#(text)\n"}"#
    }
    private static func pass(_ test: String) -> String {
        #"{"Action":"pass","Package":"k","Test":"\#(test)","Elapsed":0}"#
    }
    private static let end = #"ok  \tk\t0.008s"#

    @Test(.proves(.steps, "A line that a test printed begins no run of Cargo's and ends none of Go's"))
    func testThatEachRunOfAPackageCanEndInATest() {
        // given: `go test -json . ; go test -json .` of Go 1.19
        let first = [Self.run("TestA"), Self.print(Self.end, in: "TestA"), Self.pass("TestA")]
        let second = [
            Self.run("TestA"), Self.print("--- PASS: TestA (0.00s)", in: "TestA"), Self.pass("TestA"),
            Self.run("TestB"), Self.print(Self.end, in: "TestB"), Self.pass("TestB"),
        ]
        // when
        let found = tests(ofGo: first + second)
        // then
        #expect(found.contains("TestA crashed") || found.contains("TestA flaky"))
        #expect(found.contains("TestB crashed"))
    }

    @Test func testThatALineThatATestPrintedBeforeHidesNoEnd() {
        // given: TestA prints the line and waits for its turn; TestB exits.
        let lines = [
            Self.run("TestA"), Self.print(Self.end, in: "TestA"), #"{"Action":"pause","Package":"k","Test":"TestA"}"#,
            Self.run("TestB"), Self.print(Self.end, in: "TestB"), Self.pass("TestB"),
        ]
        // then
        #expect(tests(ofGo: lines) == ["TestA skipped", "TestB crashed"])
    }

    @Test(.proves(.steps, "A line that a test printed begins no run of Cargo's and ends none of Go's"))
    func testThatATestThatPrintsItsPackagesEndHasNotCrashed() {
        // given
        let lines = [
            Self.run("TestA"), Self.print(Self.end, in: "TestA"), Self.print("--- PASS: TestA (0.00s)", in: "TestA"),
            Self.pass("TestA"), #"{"Action":"pass","Package":"k","Elapsed":0}"#,
        ]
        // then
        #expect(tests(ofGo: lines) == ["TestA passed"])
    }

    @Test func testThatAnEndWithoutAnEventIsOne() {
        #expect(tests(ofGo: [Self.run("TestA"), Self.print(Self.end, in: "TestA")]) == ["TestA crashed"])
    }
}
