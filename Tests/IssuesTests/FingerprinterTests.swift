import Model
import Reports
import TestSupport
import Testing

@testable import Issues

@Suite struct FingerprinterTests {
    private func finding(
        _ rule: String = "-Wunused", message: String = "m", path: String = "a.c", line: Int = 3,
        category: Finding.Category = .warning
    ) -> Finding {
        Finding(category: category, message: message, rule: rule, path: path, line: line, column: 5)
    }

    @Test(.proves(.issueHistory, "Fingerprints survive moved lines"))
    func testThatAMovedLineKeepsItsFingerprint() {
        // given: a file, and the same file with lines before it and other indentation
        let before = ["int f() {", "  int x;", "}"]
        let after = ["// a", "// b", "int f() {", "\tint  x;", "}"]
        // when
        let old = Fingerprinter.keys(of: [finding(line: 2)]) { _, line in before[line - 1] }
        let new = Fingerprinter.keys(of: [finding(line: 4)]) { _, line in after[line - 1] }
        // then
        #expect(old == new)
    }

    @Test(.proves(.issueHistory, "Fingerprints survive moved lines"))
    func testThatOtherRulesPathsLinesAndCategoriesAreOther() {
        let all = [
            finding(), finding("-Wshadow"), finding(path: "b.c"), finding(category: .error), finding(line: 4),
            finding("", message: "m"), finding("", message: "n"),
        ]
        let keys = Fingerprinter.keys(of: all) { _, line in "text of line \(line)" }
        #expect(Set(keys.map(\.place)).count == all.count)
    }

    @Test func testThatAnotherPathIsTheSameContent() {
        let keys = Fingerprinter.keys(of: [finding(), finding(path: "b.c")]) { _, _ in "same" }
        #expect(keys[0].content == keys[1].content)
        #expect(keys[0].place != keys[1].place)
    }

    @Test func testThatEqualLinesAreNumberedFromTopToBottom() {
        let shuffled = [finding(line: 9), finding(line: 1), finding(line: 5)]
        let keys = Fingerprinter.keys(of: shuffled) { _, _ in "same" }
        let sorted = Fingerprinter.keys(of: [finding(line: 1), finding(line: 5), finding(line: 9)]) { _, _ in "same" }
        #expect(keys == [sorted[2], sorted[0], sorted[1]])
        #expect(Set(keys.map(\.place)).count == 3)
        #expect(Set(keys.map(\.content)).count == 1)
    }

    @Test func testThatATestIsOneIssueHoweverItFails() {
        let one = finding("S/t", message: "a", line: 1, category: .testFailure)
        let other = finding("S/t", message: "b", path: "c.swift", line: 9, category: .testFailure)
        #expect(
            Fingerprinter.keys(of: one, lineText: nil, occurrence: 0)
                == Fingerprinter.keys(of: other, lineText: "x", occurrence: 0))
    }

    @Test(.proves(.issueHistory, "Fingerprints are the same in other configurations"))
    func testThatATestCommandThatFailedIsAnIssueForEachReason() {
        func content(_ message: String) -> String {
            let rule = Finding.Rule.failedTestCommand
            let finding = Finding(category: .testFailure, message: message, rule: rule)
            return Fingerprinter.keys(of: finding, lineText: nil, occurrence: 0).content
        }
        let reasons = ["testing exceeded 1 min", "testing exceeded 4 min", "out of memory at 2 GiB"]
        #expect(Set(reasons.map(content)).count == 3)
        #expect(content("testing  exceeded 1 min") == content(reasons[0]))
    }

    @Test func testThatPartsCannotRunIntoEachOther() {
        let one = Fingerprinter.keys(of: finding("a\n1:b", path: "c"), lineText: "x", occurrence: 0)
        let other = Fingerprinter.keys(of: finding("a", path: "1:b\nc"), lineText: "x", occurrence: 0)
        #expect(one.place != other.place)
    }

    /// Messages of two configurations, or at two times, about one thing.
    @Test(
        .proves(.issueHistory, "Fingerprints are the same in other configurations"),
        arguments: [
            (
                "undefined reference to `f' in .build/x86_64-unknown-linux-gnu/debug/Kit.build/a.o",
                "undefined reference to `f' in .build/x86_64-unknown-linux-gnu/release/Kit.build/a.o"
            ),
            (
                "/martlet/kit/cmake-build-debug/lib/a.o: in function `f'",
                "/martlet/kit/cmake-build-release/lib/a.o: in function `f'"
            ),
            ("/tmp/a-3f2c91.o: undefined symbol: f", "/tmp/a-99c1d0.o: undefined symbol: f"),
            ("bad pointer 0x7ffd8a10", "bad pointer 0x55aa1234"), ("two  blanks", "two blanks"),
        ])
    func testThatAMessageIsTheSameInEveryBuildDirectory(one: String, other: String) {
        #expect(content(one) == content(other))
    }

    @Test(arguments: [
        ("undefined reference to `f' in a.o", "undefined reference to `g' in a.o"),
        ("cannot open Sources/a.h", "cannot open Tests/a.h"), ("mask 0xff", "mask 0xf0"), ("expected 2", "expected 3"),
        (".build/debug/a.o: bad", ".build/debug/b.o: bad"),
    ])
    func testThatOtherMessagesAreOther(one: String, other: String) {
        #expect(content(one) != content(other))
    }

    private func content(_ message: String) -> String {
        let finding = Finding(category: .error, message: message)
        return Fingerprinter.keys(of: finding, lineText: nil, occurrence: 0).content
    }

    @Test func testThatACountInARulesMessageIsOfNoAccount() {
        func content(_ message: String) -> String {
            let finding = Finding(category: .analyzerWarning, message: message, rule: "file_length", path: "a.swift")
            return Fingerprinter.keys(of: finding, lineText: nil, occurrence: 0).content
        }
        #expect(content("the file has 512 lines") == content("the file has 513 lines"))
        #expect(content("the file has 512 lines") != content("the file has 512 words"))
    }

    @Test func testThatAGeneratedFileIsTheSameInEveryConfiguration() {
        let keys = ["debug", "release"].map { configuration in
            Fingerprinter.keys(
                of: finding(path: ".build/\(configuration)/Kit.build/gen.swift"), lineText: nil, occurrence: 0)
        }
        #expect(keys[0] == keys[1])
    }

    @Test func testThatAFailedTestIsAFinding() {
        let crashed = TestResult(suite: "S", name: "t", outcome: .crashed, path: "a.swift", line: 2)
        #expect(
            Finding(failureOf: crashed)
                == Finding(category: .testFailure, message: "crashed", rule: "S/t", path: "a.swift", line: 2))
        #expect(Finding(failureOf: TestResult(suite: "S", name: "t", outcome: .flaky)) == nil)
    }
}
