import Model
import TestSupport
import Testing

@testable import Reports

@Suite struct LintReaderTests {
    private let root = SourceRoot(mountedAt: "/kit")

    private func read(_ text: String) -> ReportContent {
        ReportReader.read(Array(text.utf8), fileName: "a", root: root)
    }

    /// The tools' own counts: cppcheck 2.10, shellcheck 0.9, ruff 0.17, clang-tidy 14.
    @Test(
        .proves(.reports, "checkstyle, cppcheck, and the JSON and lines of linters"),
        arguments: [
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

    /// The formats according to their manuals.
    @Test(
        .proves(.reports, "checkstyle, cppcheck, and the JSON and lines of linters"),
        arguments: [
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

    @Test(
        .proves(.reports, "checkstyle, cppcheck, and the JSON and lines of linters"),
        arguments: [
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
                "report unreadable: a: an item of the list is not a finding of a known tool"
            ])
        #expect(
            read(#"[{"message":"m","file":"a","line":"#).problems.first?.hasPrefix("report unreadable: a: no JSON")
                == true)
        #expect(read("all is well\n").problems == ["report unreadable: a: " + ReportFormat.unknown])
    }

    @Test func testThatAnAnalyzerThatFailedIsAProblem() {
        let text = #"{"results":[],"errors":[{"message":"no rules"}]}"#
        #expect(read(text).problems == ["a: the analyzer reports that it failed: no rules"])
    }

    private func analysis(_ log: String) -> (findings: [String], notUnderstood: Int) {
        var reader = AnalyzerLines(root: root)
        LogLines.forEach(in: Array(log.utf8)) { reader.consume($0) }
        let findings = reader.finish().map { "\($0.path ?? ""):\($0.line ?? 0) \($0.rule) \($0.message.prefix(20))" }
        return (findings, reader.notUnderstood)
    }

    /// The default output of pylint 3, pyflakes 3, bandit 1.9, yamllint 1.37, shellcheck 0.11 and rubocop 1.60.
    @Test(arguments: [
        (
            """
            ************* Module a
            a.py:1:0: C0114: Missing module docstring (missing-module-docstring)
            a.py:6:8: W0123: Use of eval (eval-used)

            -----------------------------------
            Your code has been rated at 0.00/10
            """, ["a.py:1 C0114 Missing module docst", "a.py:6 W0123 Use of eval (eval-us"]
        ),
        (
            "a.py:1:1: 'os' imported but unused\na.py:2:1: unable to detect undefined names\n",
            ["a.py:1  'os' imported but un", "a.py:2  unable to detect und"]
        ),
        (
            """
            Run started:2026-11-26 16:40:18.384509+00:00

            Test results:
            >> Issue: [B101:assert_used] Use of assert detected.
               Severity: Low   Confidence: High
               CWE: CWE-703 (https://cwe.mitre.org/data/definitions/703.html)
               Location: ./a.py:5:4
            4\tdef f(x=[]):
            5\t    assert x

            --------------------------------------------------

            Code scanned:
            \tTotal lines of code: 6
            """, ["a.py:5 B101 Use of assert detect"]
        ),
        (
            "a.yml\n  1:1       warning  missing document start \"---\"  (document-start)\n  2:7       error    too few spaces  (commas)\n",
            ["a.yml:1 document-start missing document sta", "a.yml:2 commas too few spaces"]
        ),
        (
            "a.yml:1:1: [warning] missing document start \"---\" (document-start)\n",
            ["a.yml:1 document-start missing document sta"]
        ),
        (
            """

            In a.sh line 2:
            echo $x
                 ^-- SC2154 (warning): x is referenced but not assigned.
                 ^-- SC2086 (info): Double quote to prevent globbing.

            Did you mean:
            echo "$x"


            In a.sh line 3:
            foo=`ls`
                ^--^ SC2006 (style): Use $(...) notation.

            For more information:
              https://www.shellcheck.net/wiki/SC2154 -- x is referenced but not assigned.
            """,
            [
                "a.sh:2 SC2154 x is referenced but", "a.sh:2 SC2086 Double quote to prev",
                "a.sh:3 SC2006 Use $(...) notation.",
            ]
        ),
        (
            """
            Inspecting 1 file
            C

            Offenses:

            a.rb:1:1: C: [Correctable] Style/FrozenStringLiteralComment: Missing frozen string.
            x = 1
            ^

            1 file inspected, 1 offense detected, 1 offense autocorrectable
            """, ["a.rb:1 Style/FrozenStringLiteralComment Missing frozen strin"]
        ),
        (
            "== a.rb ==\nC:  1:  1: [Correctable] Style/Semi: no\nW:  3: 10: Lint/Void: x\n",
            ["a.rb:1 Style/Semi no", "a.rb:3 Lint/Void x"]
        ),
    ])
    func testThatItReadsWhatAnalyzersPrintForPeople(text: String, findings: [String]) {
        #expect(analysis(text).findings.map { $0.trimmingSuffix { $0 == " " }.description } == findings)
    }

    @Test(arguments: [
        ("widget 7 is not frobbed\n\nwidget 9 is not frobbed\n----\n", 2), ("All checks passed!\n", 0),
        ("Success: no issues found in 3 source files\n", 0), ("", 0), ("\n\n=====\n", 0),
        ("Inspecting 3 files\n...\n\n3 files inspected, no offenses detected\n", 0),
        ("Traceback (most recent call last):\n  File \"x.py\", line 3\nValueError: no\n", 3),
    ])
    func testThatLinesThatTellNothingAreCounted(text: String, count: Int) {
        #expect(analysis(text).notUnderstood == count)
        #expect(analysis(text).findings == [])
    }

    /// The default output of tools that find no problem, and what Make, npm, yarn and shells print around it.
    @Test(
        .proves(.reports, "An analysis whose output was not understood is never clean, and resolves nothing"),
        arguments: [
            "3 files already formatted\n", "Your code has been rated at 10.00/10 (previous run: 10.00/10, +0.00)\n",
            "Linting Swift files in current working directory\nLinting 'a.swift' (1/3)\nDone linting! Found 0 violations, 0 serious in 3 files.\n",
            "Checking a.c ...\n1/3 files checked 33% done\n",
            "12 warnings generated.\nSuppressed 12 warnings (12 in non-user code).\nUse -header-filter=.* to display errors.\n",
            "# kit/pkg\n",
            "    Checking kit v0.1.0 (/kit)\n   Compiling a v1.0.0\n    Finished `dev` profile [unoptimized] target(s) in 0.05s\n",
            "[main]\tINFO\tprofile include tests: None\nRun started:2026-11-26 16:40:18\n\nTest results:\n\tNo issues identified.\n",
            "\n> kit@1.0.0 lint\n> eslint .\n\n", "yarn run v1.22.22\n$ eslint .\nDone in 0.52s.\n",
            "make[1]: Entering directory '/kit/src'\nruff check .\nAll checks passed!\nmake[1]: Leaving directory '/kit/src'\n",
            "+ ruff check .\nPYTHONPATH=src python3 -m mypy kit\n./scripts/lint.sh\n",
            "markdownlint-cli2 v0.13.0 (markdownlint v0.34.0)\nFinding: *.md\nLinting: 3 file(s)\nSummary: 0 error(s)\n",
            "0 errors, 0 warnings, 0 informations\n", "linting took 10ms, errors: 0, warnings: 0\n",
            "found 0 vulnerabilities\n",
            "10 mods/funs, found no issues.\n", "[OK] No errors\n", "No syntax errors detected in a.php\n",
            "==> Linting kit\n✔ no problems\n",
        ])
    func testThatWhatToolsPrintThatFindNothingIsUnderstood(text: String) {
        #expect(analysis(text).notUnderstood == 0)
        #expect(analysis(text).findings == [])
    }

    /// Sentences of unknown tools, some with the words of those that find no problem. `gofmt -l` prints only a file.
    @Test(
        .proves(.reports, "An analysis whose output was not understood is never clean, and resolves nothing"),
        arguments: [
            "main.go\n", "src/a.c\n", "0 errors, 3 warnings\n", "10 errors\n", "the function has no error handling\n",
            "Missing docstring in function f\n", "Trailing whitespace in a.py\n", "ruff is not configured\n",
            "Line too long (130 characters) in kit.py\n", "would reformat kit.py\n",
            "requests 2.0.0 has a vulnerability\n",
        ])
    func testThatAFindingInAnUnknownFormIsNotTakenForNone(text: String) {
        #expect(analysis(text).notUnderstood == 1)
        #expect(analysis(text).findings == [])
    }

    @Test func testThatAnAnalysisReadsBothKindsOfLinesOnce() {
        var reader = AnalyzerLines(root: root)
        let log = "a.c:1:2: warning: m [-Wx]\na.py:3:4: F401 n\na.c:1:2: warning: m [-Wx]\n"
        LogLines.forEach(in: Array(log.utf8)) { reader.consume($0) }
        #expect(reader.finish().map(\.rule) == ["-Wx", "F401"])
    }
}
