import Model
import TestSupport
import Testing

@testable import Reports

@Suite struct XCTestConsoleReaderTests {
    private let root = Samples.root

    private func tests(_ log: String, listed: [String] = []) -> [TestResult] {
        XCTestConsoleReader.tests(in: Array(log.utf8), root: root, listed: listed)
    }

    @Test(.proves(.reports, "XCTest's console"), .corpus)
    func testThatItReadsTheSample() throws {
        let log = try Corpus.file("samples/swift-test-stdout-xctest+swifttesting.txt").bytes()
        let found = XCTestConsoleReader.tests(in: log, root: root, listed: ["TinyTests.TinyTests/testFail"])
        #expect(TestCounts(of: found) == .init(7, failed: 2, skipped: 1), "what XCTest says: Executed 7 tests")
        #expect(
            try test("testFail", in: found)
                == TestResult(
                    suite: "TinyTests.TinyTests", name: "testFail", outcome: .failed, duration: .seconds(0),
                    message: #"XCTAssertEqual failed: ("3") is not equal to ("4") - sum <wrong> & "quoted""#,
                    path: "Tests/TinyTests/TinyTests.swift", line: 5))
        #expect(try test("testSkip", in: found).message == "not here")
        #expect(try test("testThrow", in: found).path == nil, "<EXPR> is no file")
        #expect(try test("testAsync", in: found).duration == .milliseconds(13))
    }

    @Test(.proves(.reports, "XCTest's console"), .corpus)
    func testThatItReadsParallelRuns() throws {
        let log = try Corpus.file("samples/swift-test-parallel-stdout.txt").bytes()
        let found = XCTestConsoleReader.tests(in: log, root: root)
        #expect(TestCounts(of: found) == .init(7, failed: 2), "a skipped one is not told with --parallel")
        #expect(Set(found.map(\.suite)) == ["TinyTests.TinyTests"])
    }

    @Test(.proves(.reports, "A started test without an end is a crash, with its signal"))
    func testThatACrashIsTheStartedTestWithItsSignalAndPlace() throws {
        let found = XCTestConsoleReader.tests(
            in: try Samples.bytes("test-xctest-crash.txt"), root: root, listed: try Samples.lines("list.txt"))
        #expect(TestCounts(of: found) == .init(4, failed: 1, skipped: 1, crashed: 1))
        let crashed = try test("testCrash", in: found)
        #expect(crashed.suite == "ATests.XTests")
        #expect(crashed.message == "ended by signal 4 (SIGILL): Fatal error: Index out of range")
        #expect(crashed.path == "Tests/ATests/A.swift")
        #expect(crashed.line == 5)
        #expect(
            try test("testB", in: found).message
                == "XCTAssertEqual failed: (\"a\nb\") is not equal to (\"a\nc\") - multi\nline")
    }

    /// SwiftPM 6.3.1 printed this on a busy machine: standard error comes first, and the first line of standard output is joined to it.
    @Test(arguments: ["*** Signal 4: Backtracing from 0x7fd1...Test Suite 'All tests'", "Test Suite 'All tests'"])
    func testThatACrashIsKnownThatWasPrintedBeforeItsTestsStart(suiteLine: String) throws {
        let found = tests(
            """
            error: Process '/w/.build/debug/badPackageTests.xctest' exited with unexpected signal code 4
            BadTests/BadTests.swift:6: Fatal error: planted
            \(suiteLine) started at 2026-11-21 04:17:49.278
            Test Suite 'BadTests' started at 2026-11-21 04:17:49.284
            Test Case 'BadTests.testGood' started at 2026-11-21 04:17:49.284
            Test Case 'BadTests.testGood' passed (0.001 seconds)
            Test Case 'BadTests.testThatItCrashes' started at 2026-11-21 04:17:49.285
             done ***
            ◇ Test run started.
            """)
        #expect(TestCounts(of: found) == .init(2, crashed: 1))
        let crashed = try test("testThatItCrashes", in: found)
        #expect(crashed.message == "ended by signal 4 (SIGILL): Fatal error: planted")
    }

    @Test func testThatATestThatWasEndedIsNotBlamedForWhatAnEarlierOnePrinted() throws {
        let found = tests(
            """
            Test Suite 'All tests' started at x
            Test Case 'A.testPrints' started at x
            Fatal error: only printed
            Test Case 'A.testPrints' passed (0.1 seconds)
            Test Case 'A.testHangs' started at x
            """)
        #expect(try test("testHangs", in: found).message == nil)
    }

    @Test func testThatACrashInAParallelRunIsOneToo() throws {
        let found = XCTestConsoleReader.tests(in: try Samples.bytes("test-parallel-crash.txt"), root: root)
        #expect(TestCounts(of: found) == .init(5, failed: 1, crashed: 1))
        #expect(try test("testCrash", in: found).message?.contains("signal 4") == true)
    }

    @Test func testThatClassesOfOneNameInTwoModulesStayTwo() {
        let log = """
            Test Suite 'All tests' started at x
            Test Case 'A.testIt' started at x
            Test Case 'A.testIt' passed (0.1 seconds)
            Test Case 'A.testIt' started at x
            Test Case 'A.testIt' failed (0.1 seconds)
            """
        #expect(tests(log).map(\.fullName) == ["A/testIt", "A (2)/testIt"])
        #expect(tests(log, listed: ["M.A/testIt", "N.A/testIt"]).map(\.fullName) == ["M.A/testIt", "N.A/testIt"])
    }

    @Test func testThatTheWorseOfTwoRunsStays() {
        let run = { (word: String) in
            "Test Suite 'All tests' started at x\nTest Case 'A.testIt' started at x\nTest Case 'A.testIt' \(word) (0.1 seconds)\n"
        }
        #expect(tests(run("failed") + run("passed")).map(\.outcome) == [.failed])
        #expect(tests(run("passed") + run("failed")).map(\.outcome) == [.failed])
    }

    @Test func testThatItReadsAppleNamesAndOutputWithoutLineFeeds() {
        let log = """
            Test Suite 'A' started at x
            Test Case '-[KitTests.A testIt]' started.
            half a lineTest Case '-[KitTests.A testIt]' passed (0.001 seconds).
            """
        #expect(
            tests(log)
                == [TestResult(suite: "KitTests.A", name: "testIt", outcome: .passed, duration: .milliseconds(1))])
    }

    @Test(arguments: [
        "Test Suite 'A' started at x\nTest Case 'A.testIt' started at x",
        "Test Suite 'A' started at x\nTest Case 'A.testIt' started at x\nTest Case 'A.b' started at x",
    ])
    func testThatWhatNeverEndsHasCrashed(log: String) {
        #expect(!tests(log).isEmpty && tests(log).allSatisfy { $0.outcome == .crashed })
    }
}

@Suite struct SwiftTestingConsoleReaderTests {
    @Test(
        .corpus,
        arguments: [
            ("samples/swift-test-stdout-xctest+swifttesting.txt", TestCounts(7, failed: 3, skipped: 1, known: 1)),
            ("samples/swift-test-parallel-stdout.txt", TestCounts(7, failed: 3, skipped: 1, known: 1)),
            ("logs/xcbeautify__spi_swift_testing_short_log.txt", TestCounts(4, failed: 3)),
            ("logs/go-test__014-panic.txt", TestCounts(0)),
        ])
    func testThatItCountsAsTheClosingLineDoes(file: String, counts: TestCounts) throws {
        let found = SwiftTestingConsoleReader.tests(in: try Corpus.file(file).bytes(), root: Samples.root)
        #expect(TestCounts(of: found) == counts)
    }

    @Test func testThatOverloadsAreTwoTests() throws {
        let found = SwiftTestingConsoleReader.tests(
            in: try Samples.bytes("test-parallel.txt"), root: Samples.root, listed: try Samples.lines("list.txt"))
        #expect(TestCounts(of: found) == .init(9, failed: 1, skipped: 2, known: 1), "Test run with 9 tests")
        #expect(try test("deep()", in: found).suite == "STests.Outer/Inner")
    }

    @Test func testThatStartedTestsWithoutAnEndHaveCrashed() throws {
        let found = SwiftTestingConsoleReader.tests(in: try Samples.bytes("test-both-crash.txt"), root: Samples.root)
        #expect(found.filter { $0.outcome == .crashed }.map(\.name) == ["(process)"], "six were running")
        #expect(
            try test("(process)", in: found).message?.hasPrefix(
                "ended by signal 4 (SIGILL): Fatal error: Index out of range\n6 tests were running") == true)
    }
}
