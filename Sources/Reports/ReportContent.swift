package import Model

/// What a report said.
package struct ReportContent: Sendable, Hashable {
    package var findings: [Finding]
    package var tests: [TestResult]
    /// Sentences, each of which keeps the step from being green: the report could not be read, is cut off, or contradicts
    /// itself. Example: `report unreadable: junit.xml: line 14: …`.
    package var problems: [String]
    /// Sentences for the page that change no verdict: how many tests never started, that a report holds no run.
    package var notes: [String]
    /// `nil` if it is no coverage report, or covers no file of the repository.
    package var coverage: Coverage?
    /// What a test has besides its result, for tests that have any.
    package var details: [TestDetail]
    /// The subject of the report; `nil` if the reader does not say.
    package var subject: Subject?
    /// What the report was read as. Files of one format tell of different tests, also where the names are the same.
    var format: ReportFormat?
    /// The tool that wrote the report; `nil` if it does not say.
    var tool: TestTool?
    /// Whether the tool says itself that there is no test to run.
    package var hasNoTests = false

    /// What a report can be about. Lines of a console are told apart from reports that only one tool writes, since any output
    /// has some that look like a compiler's.
    package enum Subject: Sendable, CaseIterable { case tests, findings, coverage, lines }

    package init(
        findings: [Finding] = [], tests: [TestResult] = [], problems: [String] = [], notes: [String] = [],
        coverage: Coverage? = nil, details: [TestDetail] = []
    ) {
        self.findings = findings
        self.tests = tests
        self.problems = problems
        self.notes = notes
        self.coverage = coverage
        self.details = details
    }

    /// A report that could not be used.
    static func unreadable(_ why: String) -> ReportContent {
        ReportContent(problems: ["report unreadable: " + TextLimit.cut(why, toBytes: 1000)])
    }

    /// The same for a file, which is named.
    package static func unreadable(_ why: String, fileName: String) -> ReportContent {
        unreadable("\(TextLimit.cut(fileName, toBytes: TextLimit.fileNameBytes)): \(why)")
    }

    /// The most tests, and the most findings, that are taken from one report; more is a problem, and said so.
    package static let maximumItems = 200_000
}
