import Model
import Testing

@testable import Reports

@Suite struct BaselineTests {
    private let debug = Name("debug")
    private let release = Name("release")

    private func current(_ keys: String...) -> [Baseline.Current] {
        keys.map { ($0, Finding(category: .warning, message: $0), [debug].compactMap { $0 }) }
    }

    private func issues(_ current: [Baseline.Current], before: [Model.Issue] = []) -> [String] {
        Baseline.compare(current: current, before: before).map { "\($0.fingerprint) \($0.status) \($0.age)" }
    }

    @Test func testThatIssuesLiveThroughIntegrations() {
        // given
        let first = Baseline.compare(current: current("a", "b"), before: [])
        #expect(first.map(\.age) == [1, 1])
        #expect(first.map(\.status) == [.new, .new])
        // when b goes and c comes
        let second = Baseline.compare(current: current("a", "c"), before: first)
        #expect(
            second.map { "\($0.fingerprint) \($0.status) \($0.age)" } == ["a unresolved 2", "c new 1", "b resolved 0"])
        // then what was resolved is not told again, and what comes back is new
        #expect(issues(current("a"), before: second) == ["a unresolved 3", "c resolved 0"])
        #expect(issues(current("b"), before: second) == ["b new 1", "a resolved 0", "c resolved 0"])
    }

    @Test func testThatWhatNobodyLookedForStays() {
        let first = Baseline.compare(current: current("a", "b"), before: [])
        let second = Baseline.compare(current: [], before: first) { $0.fingerprint == "a" }
        #expect(second.map { "\($0.fingerprint) \($0.status) \($0.age)" } == ["a unresolved 2", "b resolved 0"])
    }

    @Test func testThatASilencedOneStaysSilenced() {
        var before = Baseline.compare(current: current("a"), before: [])
        before[0].status = .silenced
        #expect(issues(current("a"), before: before) == ["a silenced 2"])
        #expect(issues([], before: before) == ["a resolved 0"])
    }

    @Test func testThatConfigurationsAreJoined() throws {
        let finding = Finding(category: .error, message: "m")
        let (debug, release) = (try #require(debug), try #require(release))
        let issues = Baseline.compare(
            current: [("a", finding, [debug]), ("a", finding, [release, debug])], before: [])
        #expect(issues.map(\.configurations) == [[debug, release]])
    }
}

@Suite struct FingerprinterTests {
    private func finding(
        _ rule: String = "-Wunused", message: String = "m", path: String = "a.c", line: Int = 3,
        category: Finding.Category = .warning
    ) -> Finding {
        Finding(category: category, message: message, rule: rule, path: path, line: line, column: 5)
    }

    @Test func testThatAMovedLineKeepsItsFingerprint() {
        // given a file, and the same with lines put before it and other indentation
        let before = ["int f() {", "  int x;", "}"]
        let after = ["// a", "// b", "int f() {", "\tint  x;", "}"]
        // when
        let old = Fingerprinter.keys(of: [finding(line: 2)]) { _, line in before[line - 1] }
        let new = Fingerprinter.keys(of: [finding(line: 4)]) { _, line in after[line - 1] }
        // then
        #expect(old == new)
    }

    @Test func testThatOtherRulesPathsLinesAndCategoriesAreOther() {
        let all = [
            finding(), finding("-Wshadow"), finding(path: "b.c"), finding(category: .error), finding(line: 4),
            finding("", message: "m"), finding("", message: "n"),
        ]
        let keys = Fingerprinter.keys(of: all) { _, line in "text of line \(line)" }
        #expect(Set(keys).count == all.count)
    }

    @Test func testThatEqualLinesAreNumberedFromTopToBottom() {
        let shuffled = [finding(line: 9), finding(line: 1), finding(line: 5)]
        let keys = Fingerprinter.keys(of: shuffled) { _, _ in "same" }
        let sorted = Fingerprinter.keys(of: [finding(line: 1), finding(line: 5), finding(line: 9)]) { _, _ in "same" }
        #expect(keys == [sorted[2], sorted[0], sorted[1]])
        #expect(Set(keys).count == 3)
    }

    @Test func testThatATestIsOneIssueHoweverItFails() {
        let one = finding("S/t", message: "a", line: 1, category: .testFailure)
        let other = finding("S/t", message: "b", path: "c.swift", line: 9, category: .testFailure)
        #expect(
            Fingerprinter.key(of: one, lineText: nil, occurrence: 0)
                == Fingerprinter.key(of: other, lineText: "x", occurrence: 0))
    }

    @Test func testThatPartsCannotRunIntoEachOther() {
        let one = Fingerprinter.key(of: finding("a\n1:b", path: "c"), lineText: "x", occurrence: 0)
        let other = Fingerprinter.key(of: finding("a", path: "1:b\nc"), lineText: "x", occurrence: 0)
        #expect(one != other)
    }

    @Test func testThatAFailedTestIsAFinding() {
        let crashed = TestResult(suite: "S", name: "t", outcome: .crashed, path: "a.swift", line: 2)
        #expect(
            Finding(failureOf: crashed)
                == Finding(category: .testFailure, message: "crashed", rule: "S/t", path: "a.swift", line: 2))
        #expect(Finding(failureOf: TestResult(suite: "S", name: "t", outcome: .flaky)) == nil)
    }
}
