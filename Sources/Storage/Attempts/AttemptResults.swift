package import Model

/// All results of processing an attempt. They become visible together with the attempt's `processed` row.
package struct AttemptResults: Hashable, Sendable {
    /// At most `maximumRows`.
    package var findings: [StoredFinding]
    /// At most `maximumRows`.
    package var tests: [TestResult]
    /// At most `maximumRows`.
    package var artifacts: [Artifact]
    /// The coverage of the tests; `nil` if no report contains it.
    package var coverage: Coverage?
    package var counts: Counts
    /// `not analyzed`, `clean` or `3 findings`. It is never empty, so that a missing analysis never looks like success.
    package var analysis: String
    /// A text that states what was tested: `412 tests`, `skipped: no tests`.
    package var tested: String
    package var notes: [String]
    package var verdict: Verdict
    package var reason: String?

    /// The most findings, tests and artifacts, each. It is more than a hundred times the tests of the largest package in the corpus.
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
