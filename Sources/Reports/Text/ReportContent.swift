package import Model

/// The contents of a report.
package struct ReportContent: Sendable, Hashable {
    package var findings: [Finding]
    package var tests: [TestResult]
    /// Sentences, each of which keeps the step from succeeding: the report could not be read, ends early, or contradicts itself. Example: `report
    /// unreadable: junit.xml: line 14: …`.
    package var problems: [String]
    /// Sentences for the page that do not change the verdict: that tests never started, or that a report contains no run.
    package var notes: [String]
    /// The coverage; `nil` if it is no coverage report, or covers no file of the repository.
    package var coverage: Coverage?
    /// The subject of the report; `nil` if the reader does not state it.
    package var subject: Subject?
    /// The format as which the report was read. Files of different formats contain different tests, even if the names are the same.
    var format: ReportFormat?
    /// The tool that wrote the report; `nil` if it is unknown.
    var tool: TestTool?
    /// Whether the tool itself reports that there is no test to run.
    package var hasNoTests = false

    /// The subjects of reports. `lines` is separate from the formats that only one tool writes, since any output contains lines that look like a
    /// compiler's.
    package enum Subject: Sendable, CaseIterable { case tests, findings, coverage, lines }

    package init(
        findings: [Finding] = [], tests: [TestResult] = [], problems: [String] = [], notes: [String] = [],
        coverage: Coverage? = nil
    ) {
        self.findings = findings
        self.tests = tests
        self.problems = problems
        self.notes = notes
        self.coverage = coverage
    }

    /// Returns the content of a report that could not be used.
    static func unreadable(_ why: String) -> ReportContent {
        ReportContent(problems: ["report unreadable: " + TextLimit.cut(why, toBytes: 1000)])
    }

    /// Returns the content of a file that could not be used, with its name.
    package static func unreadable(_ why: String, fileName: String) -> ReportContent {
        unreadable("\(TextLimit.cut(fileName, toBytes: TextLimit.fileNameBytes)): \(why)")
    }

    /// The most tests, and the most findings, that are read from one report. More are reported as a problem.
    package static let maximumItems = 200_000
}

extension ReportContent {
    /// Returns the content with valid lines and columns, and texts without NUL, since a report may contain any value. No database or page accepts a
    /// NUL.
    func bounded() -> ReportContent {
        var content = self
        for index in findings.indices {
            content.findings[index].message.replaceNUL()
            content.findings[index].rule.replaceNUL()
            content.findings[index].path?.replaceNUL()
            if !Self.isPlace(findings[index].line) { content.findings[index].line = nil }
            if !Self.isPlace(findings[index].column) || content.findings[index].line == nil {
                content.findings[index].column = nil
            }
        }
        for index in tests.indices {
            content.tests[index].suite.replaceNUL()
            content.tests[index].name.replaceNUL()
            content.tests[index].message?.replaceNUL()
            content.tests[index].path?.replaceNUL()
            if !Self.isPlace(tests[index].line) { content.tests[index].line = nil }
        }
        for index in problems.indices { content.problems[index].replaceNUL() }
        for index in notes.indices { content.notes[index].replaceNUL() }
        return content
    }

    /// Returns whether a number is valid for a line or a column: from 1, with at most nine digits, as `PrintedPlace` reads them. `nil` is valid, too.
    static func isPlace(_ number: Int?) -> Bool { number.map { (1..<1_000_000_000).contains($0) } ?? true }
}

extension String {
    fileprivate mutating func replaceNUL() { self = withoutNUL }

    /// The text with each NUL replaced by U+FFFD.
    var withoutNUL: String {
        utf8.contains(0) ? String(map { $0 == "\u{0}" ? "\u{FFFD}" : $0 }) : self
    }
}
