package import Model

/// All that processing an attempt came to. It becomes visible at once, with the attempt's `processed` row.
package struct AttemptResults: Hashable, Sendable {
    /// At most `maximumRows`.
    package var findings: [StoredFinding]
    /// At most `maximumRows`.
    package var tests: [TestResult]
    /// At most `maximumRows`.
    package var artifacts: [Artifact]
    /// What the tests executed of the source; nothing where no report says.
    package var coverage: Coverage?
    package var counts: Counts
    /// `not analyzed`, `clean`, `3 findings`; never empty, so that no verdict is green by absence.
    package var analysis: String
    /// What was tested, in words: `412 tests`, `skipped: no tests`.
    package var tested: String
    package var notes: [String]
    package var verdict: Verdict
    package var reason: String?

    /// Findings, tests and artifacts each: above a hundred times the tests of the largest package in the corpus.
    package static let maximumRows = 200_000

    package init(
        findings: [StoredFinding] = [], tests: [TestResult] = [], artifacts: [Artifact] = [],
        coverage: Coverage? = nil, counts: Counts = Counts(), analysis: String, tested: String, notes: [String] = [],
        verdict: Verdict,
        reason: String? = nil
    ) {
        self.findings = findings
        self.tests = tests
        self.artifacts = artifacts
        self.coverage = coverage
        self.counts = counts
        self.analysis = analysis
        self.tested = tested
        self.notes = notes
        self.verdict = verdict
        self.reason = reason
    }
}
