package import Model
package import Storage

/// What the attempt before found, for an attempt that ran only the tests that a filter names: tests that were left out keep
/// their outcome, so that no configuration gets green by running fewer of them. So does a command that failed without any
/// failing test.
package struct FilteredResults: Sendable {
    private let filter: String
    /// The attempt that the other tests come from.
    private let before: Int
    private let tests: [TestResult]
    private let findings: [StoredFinding]

    package init(filter: String, before: Int, tests: [TestResult], findings: [StoredFinding]) {
        self.filter = filter
        self.before = before
        self.tests = tests
        self.findings = findings
    }

    /// The results with the other tests among them; counts, verdict and words are those of all together. Results that are not
    /// the code's, such as a canceled attempt's, stay as they are.
    package func completing(_ results: AttemptResults) -> AttemptResults {
        guard !results.verdict.isOurFault, results.verdict != .canceled else { return results }
        var results = results
        let ran = Set(results.tests.map(\.fullName))
        let others = tests.filter { !ran.contains($0.fullName) }
        let names = Set(others.map(\.fullName))
        let command = findings.first { $0.finding.rule == AttemptReading.failedTestCommand }
        let kept =
            findings.filter { $0.finding.isOfTest && names.contains($0.finding.flakyTest ?? $0.finding.rule) }
            + (command.map { [$0] } ?? [])
        if ran.isEmpty { results.notes.append("no test matches the filter \(filter)") }
        results.tests += others
        results.findings += kept
        for stored in kept { results.counts.add(stored.finding) }
        results.counts.tests = results.tests.count { $0.outcome != .skipped }
        results.tested =
            "\(ran.count) tests by the filter \(filter), \(others.count) others as in attempt \(before)"
        let failing = results.tests.count(where: \.outcome.isFailure)
        if failing > 0, results.verdict.isPublishable {
            results.verdict = .testFailures
            results.reason = "\(failing) of \(results.tests.count) tests failed"
        } else if let command, results.verdict.isPublishable {
            results.verdict = .testFailures
            results.reason = "\(command.finding.message), in attempt \(before)"
        }
        let flaky = kept.compactMap(\.finding.flakyTest)
        if !flaky.isEmpty { results.becomeWarnings(FlakyTests.sentence(flaky)) }
        return results
    }
}

extension AttemptRecord {
    /// Whether all of its tests were run to their end, so that a filtered attempt can build on it.
    package var hasWholeTests: Bool {
        guard let verdict = state.verdict, !verdict.isOurFault, verdict != .canceled else { return false }
        let testing = steps.filter { $0.step == .testing && $0.name != JobPlanner.listStep }
        return !testing.isEmpty && testing.allSatisfy { $0.endedAt != nil && $0.signal == nil && $0.limit == nil }
    }
}
