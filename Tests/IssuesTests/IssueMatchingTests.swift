import Model
import TestSupport
import Testing

@testable import Issues

/// A table of cases: the issues before, the issues now, the changes of the files, and the expected matches.
@Suite struct IssueMatchingTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// `TEXT@LINE` in `a.c`, or `PATH:TEXT@LINE`.
        let before: [String]
        let now: [String]
        var changes = SourceChanges()
        /// For each issue of now the index of the one before; -1 if it is new.
        let expected: [Int]
    }

    /// Returns a change such as `10,2>12,0`: 2 lines were removed at line 10 of before, and 0 were added at line 12 of now.
    private static func hunk(_ old: Int, _ gone: Int, _ new: Int, _ come: Int) -> SourceChanges.Hunk {
        .init(old: old..<old + gone, new: new..<new + come)
    }

    private static func changed(to new: String = "a.c", _ hunks: SourceChanges.Hunk...) -> SourceChanges {
        SourceChanges(files: ["a.c": .init(path: new, hunks: hunks)])
    }

    private static let cases = [
        Case(testDescription: "nothing changed", before: ["x@1", "y@2"], now: ["x@1", "y@2"], expected: [0, 1]),
        Case(testDescription: "lines moved", before: ["x@1", "y@2"], now: ["x@101", "y@90"], expected: [0, 1]),
        Case(testDescription: "another text", before: ["x@1"], now: ["y@1"], expected: [-1]),
        Case(
            testDescription: "an equal one was inserted above", before: ["x@10"], now: ["x@8", "x@12"],
            changes: changed(hunk(8, 0, 8, 2)), expected: [-1, 0]),
        Case(
            testDescription: "an equal one was inserted below", before: ["x@10"], now: ["x@10", "x@12"],
            changes: changed(hunk(12, 0, 12, 1)), expected: [0, -1]),
        Case(
            testDescription: "the first of three was taken out", before: ["x@1", "x@5", "x@9"], now: ["x@4", "x@8"],
            changes: changed(hunk(1, 1, 1, 0)), expected: [1, 2]),
        Case(
            testDescription: "the middle one of three was taken out", before: ["x@1", "x@5", "x@9"],
            now: ["x@1", "x@8"], changes: changed(hunk(5, 1, 5, 0)), expected: [0, 2]),
        Case(
            testDescription: "the file was renamed", before: ["x@3", "x@7"], now: ["b.c:x@3", "b.c:x@7"],
            changes: changed(to: "b.c"), expected: [0, 1]),
        Case(
            testDescription: "the file was renamed and an equal one put above", before: ["x@3"],
            now: ["b.c:x@2", "b.c:x@5"], changes: changed(to: "b.c", hunk(1, 0, 1, 2)), expected: [-1, 0]),
        Case(
            testDescription: "the file was renamed without a word of it", before: ["x@3"], now: ["b.c:x@3"],
            expected: [-1]),
        Case(
            testDescription: "the file was renamed and another has its name now", before: ["x@3"],
            now: ["x@3", "b.c:x@3"], changes: changed(to: "b.c"), expected: [-1, 0]),
        Case(
            testDescription: "two files changed names", before: ["x@3", "b.c:x@3"], now: ["x@3", "b.c:x@3"],
            changes: SourceChanges(files: [
                "a.c": .init(path: "b.c", hunks: []), "b.c": .init(path: "a.c", hunks: []),
            ]), expected: [1, 0]),
        Case(
            testDescription: "code moved to a new file", before: ["x@3", "y@4"], now: ["new.c:x@1", "new.c:y@2"],
            changes: SourceChanges(files: ["a.c": .init(path: "a.c", hunks: [hunk(3, 2, 3, 0)])], added: ["new.c"]),
            expected: [0, 1]),
        Case(
            testDescription: "code moved to a file that was there", before: ["x@3"], now: ["b.c:x@9"],
            changes: SourceChanges(files: [
                "a.c": .init(path: "a.c", hunks: [hunk(3, 2, 3, 0)]),
                "b.c": .init(path: "b.c", hunks: [hunk(8, 0, 8, 2)]),
            ]), expected: [0]),
        Case(
            testDescription: "code of a file that was deleted", before: ["x@3"], now: ["new.c:x@1"],
            changes: SourceChanges(files: ["a.c": .init(path: nil, hunks: nil)], added: ["new.c"]), expected: [0]),
        Case(
            testDescription: "the line stayed, and another file has an equal one", before: ["x@3"], now: ["b.c:x@9"],
            changes: SourceChanges(files: ["b.c": .init(path: "b.c", hunks: [hunk(8, 0, 8, 2)])]), expected: [-1]),
        Case(
            testDescription: "the line went, and another file had an equal one already", before: ["x@3"],
            now: ["b.c:x@9"], changes: changed(hunk(3, 1, 3, 0)), expected: [-1]),
        Case(
            testDescription: "code was copied: the one that stayed is the old one", before: ["x@3"],
            now: ["new.c:x@1", "x@3"], changes: SourceChanges(added: ["new.c"]), expected: [-1, 0]),
    ]

    private func places(_ texts: [String], before: [String], changes: SourceChanges) -> [Int] {
        let before = Baseline.compare(current: BaselineTests.found(before), before: [], number: 1)
        let matching = IssueMatching(BaselineTests.found(texts), before: before, changes: changes)
        return matching.issues.map { $0 ?? -1 }
    }

    @Test(.proves(.issueHistory, "Fingerprints survive moved lines"), arguments: cases)
    func testThatEachIsWhichItWas(_ item: Case) {
        #expect(places(item.now, before: item.before, changes: item.changes) == item.expected)
    }

    /// Changes are requested only if they are needed for the match.
    @Test(arguments: cases) func testThatChangesAreAskedForWhereTheyTellMore(_ item: Case) {
        let before = Baseline.compare(current: BaselineTests.found(item.before), before: [], number: 1)
        let now = BaselineTests.found(item.now)
        if Baseline.needsChanges(current: now, before: before) { return }
        #expect(places(item.now, before: item.before, changes: SourceChanges()).contains(-1) == false)
    }

    @Test(.proves(.issueHistory, "Fingerprints survive moved lines"))
    func testThatAnEditedLineKeepsItsIssue() {
        // given: one message about a line, whose text changes with the lines around it
        let finding = Finding(category: .warning, message: "unused 'x'", rule: "r", path: "a.c", line: 5)
        func found(_ content: String, line: Int) -> [Baseline.Found] {
            var finding = finding
            finding.line = line
            return [.init(fingerprint: content, content: content, finding: finding, configurations: [])]
        }
        let before = Baseline.compare(current: found("int x;", line: 5), before: [], number: 1)
        func match(line: Int, _ hunk: SourceChanges.Hunk) -> [Int?] {
            IssueMatching(
                found("long x;", line: line), before: before,
                changes: SourceChanges(files: ["a.c": .init(path: "a.c", hunks: [hunk])])
            ).issues
        }
        // then: it is the same if one change removed the one and added the other
        #expect(match(line: 7, Self.hunk(4, 3, 4, 5)) == [0])
        #expect(match(line: 12, Self.hunk(4, 3, 4, 5)) == [nil])
        #expect(match(line: 7, Self.hunk(7, 0, 7, 1)) == [nil])
    }

    @Test(.proves(.issueHistory, "Fingerprints survive renamed files, and code that moves to another file"))
    func testThatATestOfARenamedFileIsTheSame() {
        func found(_ rule: String, path: String) -> [Baseline.Found] {
            let finding = Finding(category: .testFailure, message: "m", rule: rule, path: path, line: 3)
            return [.init(fingerprint: rule, content: rule, finding: finding, configurations: [])]
        }
        let before = Baseline.compare(current: found("test_a/adds", path: "test_a.py"), before: [], number: 1)
        let changes = SourceChanges(files: ["test_a.py": .init(path: "test_b.py", hunks: [])])
        func match(_ found: [Baseline.Found]) -> [Int?] {
            IssueMatching(found, before: before, changes: changes).issues
        }
        #expect(match(found("test_b/adds", path: "test_b.py")) == [0])
        #expect(match(found("test_b/subtracts", path: "test_b.py")) == [nil])
        #expect(match(found("test_c/adds", path: "test_c.py")) == [nil])
    }

    @Test(.proves(.issueHistory, "Fingerprints survive renamed files, and code that moves to another file"))
    func testThatNamesAreNeverShared() {
        // given: an issue whose file was renamed, so that its name is of a place where it no longer is
        let first = Baseline.compare(current: BaselineTests.found(["x@3"]), before: [], number: 1)
        let second = Baseline.compare(
            current: BaselineTests.found(["b.c:x@3"]), before: first, changes: Self.changed(to: "b.c"), number: 2)
        // when: another issue appears at that place
        let third = Baseline.compare(current: BaselineTests.found(["x@3", "b.c:x@3"]), before: second, number: 3)
        // then
        #expect(third.map(\.status) == [.new, .unresolved])
        #expect(third[1].fingerprint == first[0].fingerprint)
        #expect(third[0].fingerprint != first[0].fingerprint)
    }

    @Test(.proves(.issueHistory, "Fingerprints survive moved lines"))
    func testThatTheSumOfWaysIsTheLeast() {
        func pairs(_ left: [Int], _ right: [Int]) -> [[Int]] {
            IssueMatching.aligned(left, right).map { [$0.0, $0.1] }
        }
        #expect(pairs([], [1, 2]) == [])
        #expect(pairs([10], [2, 11, 30]) == [[0, 1]])
        #expect(pairs([2, 11, 30], [10]) == [[1, 0]])
        #expect(pairs([1, 2, 3], [7, 8, 9]) == [[0, 0], [1, 1], [2, 2]])
        #expect(pairs([10, 20], [9, 11, 19]) == [[0, 0], [1, 2]])
        #expect(pairs(Array(0..<700), Array(0..<800)).count == 700)
    }
}
