import Model
import TestSupport
import Testing

@testable import Reports

/// Programs that deal with test results print lines that look like results. A line counts only if the tool itself can have written it.
@Suite struct QuotedConsoleTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var name: String
        var text: String
        /// `Suite/name outcome` of each test.
        var tests: [String]
        var problems: Int
        var testDescription: String { name }

        init(_ name: String, _ text: String, _ tests: [String] = [], problems: Int = 0) {
            (self.name, self.text, self.tests, self.problems) = (name, text, tests, problems)
        }
    }

    private static let all = "Test Suite 'All tests'"
    private static func ran(_ name: String, _ word: String = "passed", printing text: String = "") -> String {
        "Test Case '\(name)' started at x\n\(text)Test Case '\(name)' \(word) (0.1 seconds)\n"
    }
    private static func run(_ text: String, _ word: String = "passed") -> String {
        "\(all) started at x\nTest Suite 'A' started at x\n\(text)Test Suite 'A' \(word) at x\n\(all) \(word) at x\n"
    }
    private static let quoted =
        run(ran("X.y", "failed", printing: "/a.swift:3: error: X.y : no\n"), "failed")
        + "\t Executed 1 test, with 1 failure (0 unexpected) in 0.1 (0.1) seconds\n"

    static let xctest = [
        Row("an end without a run", "Test Case 'X.y' failed (0.1 seconds)\n"),
        Row("an end in a line of a log", "2026-01-02 10:00:00 expected: Test Case 'X.y' failed (0.1 seconds)\n"),
        Row("a start and an end without a run", ran("X.y", "failed")),
        Row("a summary without a run", "\t Executed 1 test, with 1 failure (0 unexpected) in 0.1 (0.1) seconds\n"),
        Row(
            "an end, printed by a test", run(ran("A.b", printing: "Test Case 'X.y' failed (0.1 seconds)\n")),
            ["A/b passed"]),
        Row(
            "an end, printed between tests of a run that is over",
            run(ran("A.b")) + "Test Case 'X.y' failed (0.1 seconds)\n",
            ["A/b passed"]),
        Row("a test, printed by a test", run(ran("A.b", printing: ran("X.y", "failed"))), ["A/b passed"]),
        Row(
            "a whole log, printed by a test", run(ran("A.b", printing: quoted) + ran("A.c")),
            ["A/b passed", "A/c passed"]),
        Row(
            "a log that breaks off, printed by a test",
            run(ran("A.b", printing: "\(all) started at x\nTest Case 'X.y' started at x\n")),
            ["A/b passed"]),
        Row(
            "a failure of another test, printed by a test",
            run(
                ran("A.b", "failed", printing: "/a.swift:1: error: X.y : quoted\n/a.swift:2: error: A.b : own\n"),
                "failed"),
            ["A/b failed: own"]),
        Row(
            "a log, printed by a test that fails", run(ran("A.b", "failed", printing: quoted), "failed"), ["A/b failed"]
        ),
        Row(
            "an end after a text without a line feed",
            run(
                "Test Case 'A.b' started at x\n… Test Case 'X.y' failed (0.1 seconds) Test Case 'A.b' passed (0.1 seconds)\n"
            ),
            ["A/b passed"]),
        Row(
            "a log, printed by a test of Swift Testing",
            run(ran("A.b"))
                + "◇ Test run started.\n◇ Test s() started.\n\(quoted)✔ Test s() passed after 0.1 seconds.\n"
                + "✔ Test run with 1 test passed after 0.1 seconds.\n", ["A/b passed"]),
        Row("a line of SwiftPM's", "[text] Testing X.y/z\n"),
    ]

    /// The opposite direction: real results in logs that are hard to read.
    static let realXCTest = [
        Row(
            "a test that crashes after it printed a log",
            run(ran("A.a")) + "\(all) started at x\nTest Case 'A.b' started at x\n" + quoted,
            ["A/a passed", "A/b crashed", "X/y failed: no"]),
        Row(
            "a test that crashes before others of another process",
            "\(all) started at x\nTest Case 'A.b' started at x\n" + run(ran("B.c") + ran("B.d", "failed"), "failed"),
            ["A/b crashed", "B/c passed", "B/d failed"]),
        Row(
            "a test whose end is lost, before others",
            run(
                "Test Case 'A.b' started at x\nTest Case 'A.b' pasother text\n" + ran("A.c", "failed") + ran("A.d"),
                "failed"),
            ["A/b crashed", "A/c failed", "A/d passed"]),
        Row(
            "a test that crashes and is run again",
            "\(all) started at x\nTest Case 'A.b' started at x\n" + run(ran("A.b")), ["A/b crashed"]),
        Row("two runs", run(ran("A.b", "failed"), "failed") + run(ran("A.c")), ["A/b failed", "A/c passed"]),
        Row("an end whose start is lost", run("Test Case 'A.b' failed (0.1 seconds)\n", "failed"), ["A/b failed"]),
        Row(
            "a start after what a suite printed",
            run("hello Test Case 'A.b' started at x\nTest Case 'A.b' failed (0.1 seconds)\n", "failed"),
            ["A/b failed"]),
        Row("a run without an end", "\(all) started at x\n" + ran("A.b"), ["A/b passed"], problems: 1),
    ]

    @Test(
        .proves(
            .issueHistory,
            "A test's output that looks like another test's result is ignored; real failures beside it count"),
        arguments: xctest + realXCTest)
    func testThatXCTestIsReadWhereItWrote(row: Row) {
        // given
        var reader = XCTestConsoleReader(root: SourceRoot(mountedAt: "/k"))
        // when
        LogLines.forEach(in: Array(row.text.utf8)) { reader.consume($0) }
        let found = reader.finish().map(Self.text)
        // then
        #expect(found == row.tests)
        #expect(reader.problems.count == row.problems, "\(reader.problems)")
    }

    private static func text(_ test: TestResult) -> String {
        "\(test.suite.isEmpty ? "" : test.suite + "/")\(test.name) \(test.outcome.rawValue)\(test.message.map { $0.isEmpty ? "" : ": " + $0 } ?? "")"
    }

    private static func swiftRun(_ text: String, _ word: String = "passed") -> String {
        "◇ Test run started.\n\(text)\(word == "passed" ? "✔" : "✘") Test run with 1 test in 0 suites \(word) after 0.1 seconds.\n"
    }
    private static func swift(_ name: String, _ word: String = "passed", printing text: String = "") -> String {
        "◇ Test \(name) started.\n\(text)\(word == "passed" ? "✔" : "✘") Test \(name) \(word) after 0.1 seconds.\n"
    }

    static let swiftTesting = [
        Row("an end without a run", "✘ Test fake() failed after 0.001 seconds with 1 issue.\n"),
        Row("a test without a run", swift("fake()", "failed")),
        Row("a run's end without a run", "✘ Test run with 1 test failed after 0.001 seconds with 1 issue.\n"),
        Row(
            "a test's end, printed by a test",
            swiftRun(swift("a()", printing: "✘ Test fake() failed after 0.1 seconds.\n")), ["a() passed"]),
        Row(
            "a whole run, printed by a test",
            swiftRun(swift("a()", printing: swiftRun(swift("x()", "failed"), "failed"))), ["a() passed"]),
        Row(
            "a whole run, printed by a test beside others",
            swiftRun(
                "◇ Test b() started.\n" + swift("a()", printing: swiftRun(swift("x()", "failed"), "failed"))
                    + "✔ Test b() passed after 1 seconds.\n"),
            ["b() passed", "a() passed"]),
        Row(
            "a run's start, printed by a test",
            swiftRun(swift("a()", printing: "◇ Test run started.\n◇ Test x() started.\n")), ["a() passed"]),
        Row(
            "a run's end, printed by a test",
            swiftRun(
                swift("a()", printing: "✘ Test run with 1 test failed after 0.1 seconds with 1 issue.\n") + swift("c()")
            ), ["a() passed", "c() passed"]),
        Row(
            "its own failure, printed by a test",
            swiftRun(swift("a()", printing: "✘ Test a() recorded an issue at A.swift:1:2: no\n")), ["a() passed"]),
    ]

    static let realSwiftTesting = [
        Row("a failure", swiftRun(swift("a()", "failed") + swift("b()"), "failed"), ["a() failed", "b() passed"]),
        Row("a crash", "◇ Test run started.\n◇ Test a() started.\n", ["a() crashed: "]),
        Row(
            "a crash before another run",
            "◇ Test run started.\n◇ Test a() started.\n" + swiftRun(swift("b()", "failed"), "failed"),
            ["a() crashed", "b() failed"]),
        Row("a run that says that it failed", swiftRun(swift("a()"), "failed"), ["a() passed"], problems: 1),
        Row("a run without an end", "◇ Test run started.\n" + swift("a()"), ["a() passed"], problems: 1),
        Row(
            "two runs", swiftRun(swift("a()", "failed"), "failed") + swiftRun(swift("b()")),
            ["a() failed", "b() passed"]),
    ]

    @Test(
        .proves(
            .issueHistory,
            "A test's output that looks like another test's result is ignored; real failures beside it count"),
        arguments: swiftTesting + realSwiftTesting)
    func testThatSwiftTestingIsReadWhereItWrote(row: Row) {
        // given
        var reader = SwiftTestingConsoleReader(root: SourceRoot(mountedAt: "/k"))
        // when
        LogLines.forEach(in: Array(row.text.utf8)) { reader.consume($0) }
        let found = reader.finish().map(Self.text)
        // then
        #expect(found == row.tests.map { $0.hasSuffix(": ") ? String($0.dropLast(2)) : $0 })
        #expect(reader.problems.count == row.problems, "\(reader.problems)")
    }

    private static let ctest = "Test project /b\n"

    static let others = [
        Row("go, a result without a package", "--- FAIL: TestX (0.00s)\n"),
        Row(
            "go, a result, printed by a test",
            "=== RUN   TestA\n--- FAIL: TestX (0.00s)\n--- PASS: TestA (0.00s)\nPASS\nok  \tk\t0.1s\n",
            ["k/TestA passed"]),
        Row(
            "go, a test, printed by a test that passes beside one that fails",
            "=== RUN   TestA\n=== RUN   TestX\n--- FAIL: TestX (0.00s)\n--- PASS: TestA (0.00s)\n=== RUN   TestB\n--- FAIL: TestB (0.00s)\nFAIL\nFAIL\tk\t0.1s\n",
            ["k/TestA passed", "k/TestB failed"]),
        Row(
            "go, its own failure, printed by a test",
            "=== RUN   TestA\n--- FAIL: TestA (0.00s)\n--- PASS: TestA (0.00s)\nPASS\nok  \tk\t0.1s\n",
            ["k/TestA passed"]),
        Row(
            "go, without -v, in a package that passed", "--- FAIL: TestX (0.00s)\nok  \tk\t0.1s\n",
            ["k/(package) passed"]),
        Row(
            "go, a start, printed by a test that runs beside others, in a binary that ran to its end",
            "=== RUN   TestA\n=== PAUSE TestA\n=== CONT  TestA\n=== RUN   TestX\n--- PASS: TestA (0.00s)\nPASS\nok  \tk\t0.1s\n",
            ["k/TestA passed"]),
        Row(
            "TAP, printed by a test of go",
            "=== RUN   TestA\nTAP version 13\n1..1\nnot ok 1 - x\n--- PASS: TestA (0.00s)\nPASS\nok  \tk\t0.1s\n",
            ["k/TestA passed"]),
        Row(
            "cargo's output, printed by a test of go",
            "=== RUN   TestA\nrunning 1 test\ntest x ... FAILED\n\ntest result: FAILED. 0 passed; 1 failed; 0 ignored;\n--- PASS: TestA (0.00s)\nPASS\nok  \tk\t0.1s\n",
            ["k/TestA passed"]),
        Row("a plan without points", "1..3\nwords\nok then\n", []),
        Row("a plan before a point that is not the first", "1..3\nok 2 - a\nnot ok 3 - b\n", []),
        Row(
            "a plan and a word of another tool beneath TAP without a version", "1..1\nok 1 - a\n1..10\nok  \twords\n",
            ["a passed"]),
        Row("go, without -v", "--- FAIL: TestX (0.00s)\nFAIL\nFAIL\tk\t0.1s\n", ["k/TestX failed"]),
        Row(
            "go, tests that run in parallel",
            "=== RUN   TestA\n=== PAUSE TestA\n=== RUN   TestB\n=== PAUSE TestB\n=== CONT  TestA\n=== CONT  TestB\n--- FAIL: TestB (0.00s)\n--- PASS: TestA (0.00s)\nFAIL\nFAIL\tk\t0.1s\n",
            ["k/TestB failed", "k/TestA passed"]),
        Row(
            "go, subtests",
            "=== RUN   TestA\n=== RUN   TestA/one\n=== RUN   TestA/two\n--- FAIL: TestA (0.00s)\n    --- PASS: TestA/one (0.00s)\n    --- FAIL: TestA/two (0.00s)\nFAIL\nFAIL\tk\t0.1s\n",
            ["k/TestA failed", "k/TestA/one passed", "k/TestA/two failed"]),
        Row("cargo, a result without a binary", "test x ... FAILED\n"),
        Row(
            "cargo, a result, printed by a test",
            "running 1 test\ntest x ... FAILED\ntest a ... ok\n\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured;\n",
            ["a passed"]),
        Row(
            "cargo, a summary, printed by a test",
            "running 2 tests\ntest result: ok. 7 passed; 0 failed; 0 ignored; 0 measured;\ntest a ... ok\ntest b ... FAILED\n\n"
                + "test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured;\n", ["a passed", "b failed"]),
        Row("TAP without its version", "not ok 1 - x\n1..1\n"),
        Row("TAP in a line", "got: TAP version 13\nnot ok 1 - x\n"),
        Row("CTest without a project", "1/1 Test #1: x ................***Failed    0.00 sec\n"),
        Row(
            "CTest, a result in a test's output",
            ctest
                + "1/2 Test #1: a ....***Failed    0.00 sec\n1/1 Test #1: x ....***Failed    0.00 sec\n100% tests passed, 0 tests failed out of 1\n"
                + "2/2 Test #2: b ....   Passed    0.00 sec\n\n50% tests passed, 1 tests failed out of 2\n",
            ["a failed", "b passed"]),
        Row(
            "CTest, another run in a test's output",
            ctest
                + "1/2 Test #1: a ....***Failed    0.00 sec\nTest project /c\n    Start 1: x\n1/1 Test #1: x ....***Failed    0.00 sec\n"
                + "2/2 Test #2: b ....   Passed    0.00 sec\n\n50% tests passed, 1 tests failed out of 2\n",
            ["a failed", "b passed"]),
        Row(
            "CTest, a result after other words",
            ctest
                + "1/1 Test #1: a ....   Passed    0.00 sec\nsaid 1/1 Test #1: x ....***Failed    0.00 sec\n\n100% tests passed, 0 tests failed out of 1\n",
            ["a passed"]),
    ]

    @Test(
        .proves(
            .issueHistory,
            "A test's output that looks like another test's result is ignored; real failures beside it count"),
        arguments: others)
    func testThatOtherToolsAreReadWhereTheyWrote(row: Row) {
        // given
        var reader = OtherConsoles(root: SourceRoot(mountedAt: "/k"))
        // when
        LogLines.forEach(in: Array(row.text.utf8)) { reader.consume($0) }
        let contents = reader.finish()
        // then
        let found = contents.flatMap(\.tests).map {
            "\($0.suite.isEmpty ? "" : $0.suite + "/")\($0.name) \($0.outcome.rawValue)"
        }
        #expect(found == row.tests)
        #expect(contents.flatMap(\.problems).count == row.problems, "\(contents.flatMap(\.problems))")
    }

    /// The time is linear for any output. Each of many starts could be held for the one before.
    @Test func testThatManyStartsWithoutAnEndAreReadOnce() {
        // given
        let starts = (0..<20_000).map { "Test Case 'X.t\($0)' started at x\n" }.joined()
        let log = "\(Self.all) started at x\n" + starts
        // when
        let found = XCTestConsoleReader.tests(in: Array(log.utf8), root: SourceRoot(mountedAt: "/k"))
        // then
        #expect(found.count == 20_000)
        #expect(found.allSatisfy { $0.outcome == .crashed })
    }

    @Test(arguments: [
        ("==7==ERROR: AddressSanitizer: heap-use-after-free on address 0x1\n", true),
        ("WARNING: ThreadSanitizer: data race (pid=1)\nmore words\n", true),
        ("==7==ERROR: AddressSanitizer: heap-use-after-free on address 0x1\n    #0 0x1 in f /k/a.c:1:2\n", false),
        ("==7==ERROR: LeakSanitizer: detected memory leaks\nSUMMARY: AddressSanitizer: 7 byte(s) leaked\n", false),
        ("a.c:3:4: runtime error: signed integer overflow: 1\n", false),
    ])
    func testThatASanitizersFirstLineAloneSupportsNothing(text: String, isUnsupported: Bool) {
        // given
        var reader = SanitizerReader(root: SourceRoot(mountedAt: "/k"))
        // when
        LogLines.forEach(in: Array(text.utf8)) { reader.consume($0) }
        let findings = reader.finish()
        // then
        #expect(findings.count == 1)
        #expect(reader.unsupported.isEmpty == !isUnsupported)
    }
}
