import Model
import TestSupport
import Testing

@testable import Reports

@Suite struct LintReaderTests {
    private let root = SourceRoot(mountedAt: "/kit")

    private func read(_ text: String) -> ReportContent {
        ReportReader.read(Array(text.utf8), fileName: "a", root: root)
    }

    /// What the tools themselves count: cppcheck 2.10, shellcheck 0.9, ruff 0.17, clang-tidy 14.
    @Test(arguments: [
        ("cppcheck.xml", 7, "arrayIndexOutOfBounds", "a.c", 8, 6),
        ("cppcheck.txt", 7, "arrayIndexOutOfBounds", "a.c", 8, 6),
        ("shellcheck.checkstyle.xml", 5, "ShellCheck.SC2045", "a.sh", 2, 10),
        ("shellcheck.json", 5, "SC2045", "a.sh", 2, 10),
        ("shellcheck-gcc.txt", 5, "SC2045", "a.sh", 2, 10), ("ruff.json", 8, "I001", "a.py", 1, 1),
        ("ruff.jsonl", 8, "I001", "a.py", 1, 1), ("ruff-gitlab.json", 8, "I001", "a.py", 1, 1),
        ("ruff-concise.txt", 8, "I001", "a.py", 1, 1), ("ruff-full.txt", 8, "I001", "a.py", 1, 1),
        ("clang-tidy.txt", 3, "clang-analyzer-unix.Malloc", "a.c", 5, 35),
    ])
    func testThatItReadsWhatToolsWrite(
        sample: String, count: Int, rule: String, path: String, line: Int, column: Int
    ) throws {
        let content = ReportReader.read(try Samples.bytes(sample), fileName: sample, root: root)
        #expect(content.findings.count == count, "\(content.findings.map(\.message))")
        #expect(content.problems == [])
        let found = try #require(content.findings.first { $0.rule == rule })
        #expect(found.path == path)
        #expect(found.line == line)
        #expect(found.column == column)
        #expect(
            content.findings.allSatisfy { $0.category == .analyzerWarning && !$0.message.isEmpty && !$0.rule.isEmpty })
    }

    /// Forms as their manuals give them.
    @Test(arguments: [
        (
            #"[{"filePath":"/kit/a.js","messages":[{"ruleId":"semi","severity":2,"message":"m","line":3,"column":5}]}]"#,
            "semi"
        ),
        (
            #"[{"file":"/kit/a.js","line":3,"character":5,"severity":"Warning","rule_id":"semi","reason":"m","type":"T"}]"#,
            "semi"
        ),
        (
            #"{"results":[{"check_id":"semi","path":"a.js","start":{"line":3,"col":5},"extra":{"message":"m"}}],"errors":[]}"#,
            "semi"
        ),
        (
            #"{"Issues":[{"FromLinter":"semi","Text":"m","Pos":{"Filename":"a.js","Line":3,"Column":5}}],"Report":{}}"#,
            "semi"
        ),
        (
            "<checkstyle><file name='/kit/a.js'><error line='3' column='5' message='m' source='semi'/></file></checkstyle>",
            "semi"
        ),
        ("a.js:3:5: W291 m", "W291"), ("a.js:3:5: C: Style/Semi: m", "Style/Semi"),
        ("a.js(3,5): error TS2304: m", "TS2304"),
        ("a.js:3:5: style: m [semiColon]", "semiColon"), ("[HIGH] a.js:3:5: m [a.semi]", "a.semi"),
        ("a.js (3,5) : warning SA1: m [/b/kit.csproj]", "SA1"),
        ("\n/kit/a.js\n  3:5  error  m  semi\n\n✖ 1 problem (1 error, 0 warnings)\n", "semi"),
        ("W291 m\n --> a.js:3:5\n", "W291"),
    ])
    func testThatItReadsTheFormsOfOtherTools(text: String, rule: String) {
        #expect(
            read(text).findings == [
                Finding(category: .analyzerWarning, message: "m", rule: rule, path: "a.js", line: 3, column: 5)
            ])
        #expect(read(text).problems == [])
    }

    @Test(arguments: [
        "a.go:3:5: Error return value is not checked (errcheck)", "a.go:3:5: undefined: x",
        "vet.go:3:5: unreachable code",
    ])
    func testThatItReadsGo(line: String) {
        #expect(read(line).findings.count == 1)
    }

    @Test(arguments: [
        "a line of prose: with a colon", "12:30:01: it is late", "see a.c:3:4: for more", "",
        "a.c:3:4: note: declared here",
        "https://example.org:80: no",
    ])
    func testThatProseIsNoFinding(line: String) {
        #expect(LintLine(line) == nil)
    }

    @Test func testThatAnEmptyListIsAReportAndAnythingElseIsNot() {
        #expect(read("[]").problems == [])
        #expect(read("[]").notes == ["a: the list of findings is empty"])
        #expect(
            read(#"[{"a":1}]"#).problems == [
                "report unreadable: a: an item of the list is no finding of a tool that is known"
            ])
        #expect(
            read(#"[{"message":"m","file":"a","line":"#).problems.first?.hasPrefix("report unreadable: a: no JSON")
                == true)
        #expect(read("all is well\n").problems == ["report unreadable: a: " + ReportFormat.unknown])
    }

    @Test func testThatAnAnalyzerThatFailedIsAProblem() {
        let text = #"{"results":[],"errors":[{"message":"no rules"}]}"#
        #expect(read(text).problems == ["a: the analyzer says that it failed: no rules"])
    }

    @Test func testThatAnAnalysisReadsBothKindsOfLinesOnce() {
        var reader = AnalyzerLines(root: root)
        let log = "a.c:1:2: warning: m [-Wx]\na.py:3:4: F401 n\na.c:1:2: warning: m [-Wx]\n"
        LogLines.forEach(in: Array(log.utf8)) { reader.take($0) }
        #expect(reader.finish().map(\.rule) == ["-Wx", "F401"])
    }
}
