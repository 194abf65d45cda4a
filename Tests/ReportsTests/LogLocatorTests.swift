import Model
import TestSupport
import Testing

@testable import Reports

/// Findings and failing tests find their lines in a log.
@Suite struct LogLocatorTests {
    private func places(
        _ log: String, findings: [Finding] = [], tests: [TestResult] = [], piece: Int = 7
    ) -> [LogPlace] {
        var locator = LogLocator(findings: findings, tests: tests)
        let bytes = Array(log.utf8)
        for start in stride(from: 0, to: bytes.count, by: piece) {
            locator.consume(Array(bytes[start..<min(bytes.count, start + piece)]))
        }
        return locator.finish()
    }

    @Test(.proves(.reports, "Findings and failing tests link to their line of the log, which marks them"))
    func testThatAFindingIsAtTheLineWithItsFile() {
        // given
        let error = Finding(
            category: .error, message: "cannot find 'x' in scope\nmore", path: "Sources/Kit/B.swift", line: 7)
        let log =
            "swift build\ncannot find 'x' in scope\n/src/Sources/Kit/A.swift:7:1: error: cannot find 'x' in scope\n"
            + "/src/Sources/Kit/B.swift:7:1: \u{1B}[1merror: \u{1B}[0mcannot find 'x' in scope\nend\n"
        // when
        let found = places(log, findings: [error])
        // then
        #expect(found == [LogPlace(key: .init(error), category: .error, line: 4)])
    }

    @Test func testThatTheFirstLineCountsWhereNoneHasTheFile() {
        let warning = Finding(category: .warning, message: "unused variable: `x`", path: "src/lib.rs", line: 5)
        let found = places(
            "Compiling\nwarning: unused variable: `x`\n --> src/lib.rs:5:41\nunused variable: `x`\n",
            findings: [warning])
        #expect(found.map(\.line) == [2])
    }

    @Test(.proves(.reports, "Findings and failing tests link to their line of the log, which marks them"))
    func testThatATestIsAtTheLineThatSaysThatItFailed() {
        // given
        let tests = [
            TestResult(suite: "KitTests.Parser", name: "testThatItParses()", outcome: .failed),
            TestResult(suite: "KitTests.Parser", name: "testThatItEnds()", outcome: .passed),
            TestResult(suite: "", name: "test_discount", outcome: .crashed),
        ]
        let finding = Finding(category: .testFailure, message: "1 is not 2", rule: "KitTests.Parser/testThatItParses()")
        let log =
            "◇ Test testThatItParses() started.\n✘ Test testThatItParses() recorded an issue: failed\n"
            + "✘ Test testThatItEnds() failed\ntest_discount begins\n"
        // when
        let found = places(log, findings: [finding], tests: tests)
        // then
        #expect(found.map(\.line) == [2, 4])
        #expect(found.map(\.key) == [LogPlace.Key(test: tests[0].fullName), LogPlace.Key(test: "test_discount")])
        #expect(found[0].key == LogPlace.Key(finding), "an issue about the test finds it, too")
    }

    @Test func testThatALogThatAlmostMatchesEndsTheSearch() {
        // given: thousands of messages that end alike, and a log of that end
        let findings = (0..<1000).map { Finding(category: .error, message: "\($0) aaaaaaaa") }
        var locator = LogLocator(findings: findings, tests: [])
        let line = Array((String(repeating: "a", count: 60_000) + "\n").utf8)
        // when
        var pieces = 0
        while !locator.isDone, pieces < 100 {
            locator.consume(line)
            pieces += 1
        }
        // then
        #expect(pieces < 10)
        #expect(locator.finish().isEmpty)
    }

    @Test func testThatFailuresComeBeforeWarningsWhereThereAreTooMany() {
        let warnings = (0..<2000).map { Finding(category: .warning, message: "warning number \($0).") }
        let error = Finding(category: .error, message: "the error")
        let found = places("warning number 5.\nthe error\nwarning number 1999.\n", findings: warnings + [error])
        #expect(found.map(\.line) == [1, 2])
    }
}
