import Model
import Testing

@testable import Reports

/// Consoles that name the failed tests and count the others.
@Suite struct SummaryConsoleTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var name: String
        var text: String
        /// `Suite/name outcome path:line` of each test.
        var tests: [String]
        var testDescription: String { name }

        init(_ name: String, _ text: String, _ tests: [String]) {
            (self.name, self.text, self.tests) = (name, text, tests)
        }
    }

    private static let rule = String(repeating: "=", count: 70)
    private static let line = String(repeating: "-", count: 70)

    static let rows = [
        // The output of Python 3.11.
        Row(
            "unittest",
            """
            .FsE
            \(rule)
            ERROR: test_d (ut.T.test_d) (i=2)
            \(line)
            Traceback (most recent call last):
              File "/k/ut.py", line 9, in test_d
                with self.subTest(i=2): raise ValueError("y")
            ValueError: y

            \(rule)
            FAIL: test_b (ut.T.test_b)
            \(line)
            Traceback (most recent call last):
              File "/k/ut.py", line 4, in test_b
            AssertionError: 1 != 2

            \(line)
            Ran 4 tests in 0.006s

            FAILED (failures=1, errors=1, skipped=1)
            """, ["ut.T/test_d failed ut.py:9", "ut.T/test_b failed ut.py:4", "unittest/(tests that passed) passed"]),
        Row(
            "unittest -v",
            "test_a (ut.T.test_a) ... ok\ntest_c (ut.T.test_c) ... skipped 'no'\n\(line)\nRan 2 tests in 0.006s\n\nOK (skipped=1)\n",
            ["ut.T/test_a passed", "ut.T/test_c skipped"]),
        Row(
            "unittest, all passed", "...\n\(line)\nRan 3 tests in 0.006s\n\nOK\n",
            ["unittest/(tests that passed) passed"]),
        Row("unittest's words without its end", "test_b (ut.T.test_b) ... FAIL\nRan out of tests\nOK\n", []),
        Row(
            "PHPUnit",
            """
            PHPUnit 10.5.0 by Sebastian Bergmann and contributors.

            .F.S                                                                4 / 4 (100%)

            There was 1 failure:

            1) Kit\\ParserTest::testB
            Failed asserting that 2 matches expected 1.

            /k/tests/ParserTest.php:12

            --

            There was 1 skipped test:

            1) Kit\\ParserTest::testC
            no network

            FAILURES!
            Tests: 4, Assertions: 4, Failures: 1, Skipped: 1.
            """,
            [
                "Kit\\ParserTest/testB failed tests/ParserTest.php:12", "Kit\\ParserTest/testC skipped",
                "PHPUnit/(tests that passed) passed",
            ]),
        Row(
            "PHPUnit, all passed",
            "PHPUnit 9.6.1 by Sebastian Bergmann and contributors.\n\n...                 3 / 3 (100%)\n\nOK (3 tests, 5 assertions)\n",
            ["PHPUnit/(tests that passed) passed"]),
        Row("PHPUnit's version", "PHPUnit 9.6.1 by Sebastian Bergmann and contributors.\n\n", []),
        Row(
            "PHPUnit's version before another tool's progress and counts",
            "PHPUnit 9.6.1 by Sebastian Bergmann and contributors.\n\n.....\nOK (5 tests)\n", []),
        Row(
            "PHPUnit without progress",
            "PHPUnit 10.5.0 by Sebastian Bergmann and contributors.\n\nRuntime:       PHP 8.2.7\nConfiguration: /k/phpunit.xml\n\nOK (3 tests, 5 assertions)\n",
            ["PHPUnit/(tests that passed) passed"]),
        Row("a script's line that minitest prints too", "# Running:\n./build.sh\nStarted\n", []),
        Row(
            "a script's options", "Started with run options --fast\nRun options: --fast\n1\n2\n3\n4\n5\n# Running:\n",
            []),
        Row(
            "a failure in test-unit's form before minitest runs",
            "Started\nError: open(2): no such file\nRun options: --seed 1\n\n# Running:\n\n.\n\n1 runs, 1 assertions, 0 failures, 0 errors, 0 skips\n",
            ["minitest/(tests that passed) passed"]),
        // The output of test-unit 3.5.
        Row(
            "test-unit",
            """
            Loaded suite test
            Started
            F
            ===============================================================================
            Failure: test_b(KitTest): <1> expected but was <2>.
            ===============================================================================

            Finished in 0.006 seconds.
            -------------------------------------------------------------------------------
            2 tests, 2 assertions, 1 failures, 0 errors, 0 pendings, 0 omissions, 0 notifications
            """, ["KitTest/test_b failed", "minitest/(tests that passed) passed"]),
        Row("ExUnit's time alone", "Finished in 0.03 seconds (0.00s async, 0.03s sync)\n", []),
        Row("a start in ExUnit's words", "Running ExUnit with seed: 1 next\n", []),
        Row(
            "RSpec",
            """
            ..F

            Failures:

              1) Kit adds
                 Failure/Error: expect(1).to eq 2

                 # ./spec/kit_spec.rb:3:in `block'

            Finished in 0.01 seconds (files took 0.1 seconds to load)
            3 examples, 1 failure

            Failed examples:

            rspec ./spec/kit_spec.rb:2 # Kit adds
            """, ["Kit adds failed spec/kit_spec.rb:2", "RSpec/(tests that passed) passed"]),
        // The output of Hspec 2.8, which has RSpec's format and names no file.
        Row(
            "Hspec, all passed", "\nadd\n  adds\n\nFinished in 0.0001 seconds\n2 examples, 0 failures\n",
            ["Hspec/(tests that passed) passed"]),
        Row(
            "Hspec",
            """
            Failures:

              test/Spec.hs:8:23: 
              1) add adds
                   expected: 4
                    but got: 3

              To rerun use: --match "/add/adds/"

            Randomized with seed 287347202

            Finished in 0.0002 seconds
            2 examples, 1 failure
            """, ["add adds failed test/Spec.hs:8", "Hspec/(tests that passed) passed"]),
        Row(
            "minitest",
            """
            Run options: --seed 1

            # Running:

            .F.S

            Finished in 0.001s, 3000.0 runs/s, 3000.0 assertions/s.

              1) Failure:
            KitTest#test_b [test/kit_test.rb:5]:
            Expected: 1
              Actual: 2

              2) Skipped:
            KitTest#test_c [test/kit_test.rb:9]:
            later

            4 runs, 3 assertions, 1 failures, 0 errors, 1 skips
            """,
            [
                "KitTest/test_b failed test/kit_test.rb:5", "KitTest/test_c skipped test/kit_test.rb:9",
                "minitest/(tests that passed) passed",
            ]),
        Row(
            "ExUnit",
            """
            Running ExUnit with seed: 0, max_cases: 2

            .

              1) test adds (KitTest)
                 test/kit_test.exs:5
                 Assertion with == failed

            Finished in 0.03 seconds (0.00s async, 0.03s sync)
            3 tests, 1 failure, 1 skipped
            """, ["KitTest/test adds failed test/kit_test.exs:5", "ExUnit/(tests that passed) passed"]),
        // The output of Elixir 1.14, which names ExUnit at its end.
        Row(
            "ExUnit before Elixir 1.15",
            """
            ...

              1) test adds (KitTest)
                 test/kit_test.exs:5
                 Assertion with == failed
                 code:  assert Kit.add(1, 2) == 4
                 stacktrace:
                   test/kit_test.exs:6: (test)

            .
            Finished in 0.1 seconds (0.00s async, 0.1s sync)
            1 doctest, 3 tests, 1 failure

            Randomized with seed 911546
            """, ["KitTest/test adds failed test/kit_test.exs:5", "ExUnit/(tests that passed) passed"]),
        Row(
            "ExUnit before Elixir 1.15, all passed",
            "...\nFinished in 0.03 seconds (0.00s async, 0.03s sync)\n1 doctest, 2 tests, 0 failures\n\nRandomized with seed 481175\n",
            ["ExUnit/(tests that passed) passed"]),
        Row("words of ExUnit without its end", "  1) test adds (KitTest)\n     test/kit_test.exs:5\n", []),
        Row(
            "busted",
            """
            ●◼●
            2 successes / 1 failure / 0 errors / 0 pending : 0.003 seconds

            Failure → spec/kit_spec.lua @ 5
            kit adds
            spec/kit_spec.lua:6: Expected objects to be equal.
            """, ["kit adds failed spec/kit_spec.lua:5", "busted/(tests that passed) passed"]),
        Row(
            "automake",
            """
            PASS: tests/a.sh
            FAIL: tests/b.sh
            XFAIL: tests/c.sh
            SKIP: tests/d.sh
            ============================================================================
            Testsuite summary for kit 1.0
            ============================================================================
            # TOTAL: 4
            # PASS:  1
            # SKIP:  1
            # XFAIL: 1
            # FAIL:  1
            # XPASS: 0
            # ERROR: 0
            """, ["tests/a.sh passed", "tests/b.sh failed", "tests/c.sh knownIssue", "tests/d.sh skipped"]),
        Row("words of automake without a summary", "PASS: one\nFAIL: two\n", []),
        // The output of prove 3.44.
        Row(
            "prove",
            """
            t/a.t .. ok
            t/b.t .. 
            Dubious, test returned 1 (wstat 256, 0x100)
            Failed 1/2 subtests 
            t/c.t .. skipped: no network

            Test Summary Report
            -------------------
            t/b.t (Wstat: 256 (exited 1) Tests: 2 Failed: 1)
              Failed test:  2
              Non-zero exit status: 1
            Files=3, Tests=4,  2 wallclock secs ( 0.04 usr  0.02 sys +  0.18 cusr  0.02 csys =  0.26 CPU)
            Result: FAIL
            """, ["t/a.t passed t/a.t", "t/b.t failed t/b.t", "t/c.t skipped t/c.t"]),
        Row(
            "prove -v",
            "t/a.t .. \n1..2\nok 1 - one\nok 2 - two\nok\nAll tests successful.\nFiles=1, Tests=2,  0 wallclock secs\nResult: PASS\n",
            ["t/a.t passed t/a.t"]),
        Row("prove's words without its end", "Loading .. ok\nt/a.t .. ok\nResult: PASS\n", []),
    ]

    @Test(arguments: rows) func testThatItReadsWhatTheToolSays(row: Row) {
        // given
        var reader = OtherConsoles(root: SourceRoot(mountedAt: "/k"))
        // when
        LogLines.forEach(in: Array(row.text.utf8)) { reader.consume($0) }
        let contents = reader.finish()
        // then
        let found = contents.flatMap(\.tests).map { test in
            "\(test.fullName) \(test.outcome.rawValue)"
                + (test.path.map { " " + $0 + (test.line.map { ":\($0)" } ?? "") } ?? "")
        }
        #expect(found == row.tests)
        #expect(contents.flatMap(\.problems) == [])
    }

    @Test func testThatAKeptConsoleIsAReport() {
        // given
        let text = "...\n\(Self.line)\nRan 3 tests in 0.006s\n\nOK\n"
        // when
        let content = ReportReader.read(Array(text.utf8), fileName: "a", root: SourceRoot(mountedAt: "/k"))
        // then
        #expect(content.tests.map(\.fullName) == ["unittest/(tests that passed)"])
        #expect(content.subject == .tests)
    }

    @Test(arguments: [
        ("PASS", TestResult.Outcome.passed), ("FAIL", .failed), ("SKIP", .skipped), ("XFAIL", .knownIssue),
        ("XPASS", .failed),
        ("ERROR", .failed),
    ])
    func testThatAutomakesResultIsATest(word: String, outcome: TestResult.Outcome) {
        // given
        let text = ":test-result: \(word)\n:global-test-result: \(word)\n:recheck: no\n:copy-in-global-log: no\n"
        // when
        let content = ReportReader.read(Array(text.utf8), fileName: "tests/a.sh.trs", root: SourceRoot(mountedAt: "/k"))
        // then
        #expect(content.tests == [TestResult(suite: "", name: "tests/a.sh", outcome: outcome)])
        #expect(content.problems == [])
    }

    @Test func testThatMesonsJUnitIsRead() {
        // given: the file meson-logs/testlog.junit.xml of Meson 1.12
        let text = """
            <?xml version='1.0' encoding='utf-8'?>
            <testsuites tests="2" errors="0" failures="1"><testsuite name="kit" tests="2" errors="0" failures="1" skipped="0" time="0.05">
            <testcase name="kit:a" classname="kit" time="0.055" /><testcase name="kit:b" classname="kit" time="0.066"><failure /></testcase>
            </testsuite></testsuites>
            """
        // when
        let content = ReportReader.read(Array(text.utf8), fileName: "a", root: SourceRoot(mountedAt: "/k"))
        // then
        #expect(
            content.tests.map { "\($0.fullName) \($0.outcome.rawValue)" } == ["kit/kit:a passed", "kit/kit:b failed"])
    }
}
