import Issues
package import Model
package import Storage

/// The results of an earlier attempt, for an attempt that ran only the tests that a filter names. The other tests keep their outcome, so that no
/// configuration turns green by running fewer tests. All else that the test steps found then is kept, too, such as a command that failed without a
/// failing test, or a sanitizer's report.
package struct FilteredResults: Sendable {
    private let filter: String
    /// The number of the attempt that the other tests come from.
    private let before: Int
    private let tests: [TestResult]
    private let findings: [StoredFinding]

    package init(filter: String, before: Int, tests: [TestResult], findings: [StoredFinding]) {
        self.filter = filter
        self.before = before
        self.tests = tests
        self.findings = findings
    }

    /// Returns the results with the other tests added; counts, verdict and words cover all of them. Results that are not the code's doing, such as a
    /// canceled attempt's, are returned unchanged.
    package func completing(_ results: AttemptResults) -> AttemptResults {
        guard !results.verdict.isOurFault, results.verdict != .canceled else { return results }
        var results = results
        // Some tools report each test that the filter leaves out as skipped, Node 20 for one. Such a test keeps its outcome, and so does a test that
        // skips itself now: running fewer tests never turns a configuration green.
        let skippedBefore = Set(tests.filter { $0.outcome == .skipped }.map(\.fullName))
        let known = Set(tests.map(\.fullName))
        results.tests.removeAll { test in
            test.outcome == .skipped && known.contains(test.fullName) && !skippedBefore.contains(test.fullName)
        }
        let ran = Set(results.tests.map(\.fullName))
        let others = tests.filter { !ran.contains($0.fullName) }
        let found = Set(results.findings.map(\.fingerprint))
        let kept = findings.filter { stored in
            // An older version did not store the step that found it.
            let isOfTesting = stored.step == .testing || stored.step == nil && stored.finding.isOfTesting
            return isOfTesting && !ran.contains(stored.finding.flakyTest ?? stored.finding.rule)
                && !found.contains(stored.fingerprint)
        }
        let outside = kept.first { $0.finding.isFailureOutsideOfTests }
        if results.coverage != nil {
            // The coverage of only some tests would look like a loss.
            results.coverage = nil
            results.notes.append("coverage of the tests by the filter \(filter) alone is not compared")
        }
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
        } else if let outside, results.verdict.isPublishable {
            results.verdict = .testFailures
            results.reason = "\(outside.finding.message), in attempt \(before)"
        } else if results.verdict < .analyzerWarnings,
            let finding = kept.first(where: { $0.finding.category == .analyzerWarning })?.finding
        {
            results.verdict = .analyzerWarnings
            results.reason = "\(finding.message.prefix { !$0.isNewline }), in attempt \(before)"
        }
        let flaky = kept.compactMap(\.finding.flakyTest)
        if !flaky.isEmpty { results.becomeWarnings(FlakyTests.sentence(flaky)) }
        if let finding = kept.first(where: { $0.finding.category == .warning })?.finding {
            results.becomeWarnings("\(finding.message.prefix { !$0.isNewline }), in attempt \(before)")
        }
        return results
    }
}

extension Finding {
    /// Whether it states that tests are red although no named test failed.
    package var isFailureOutsideOfTests: Bool {
        category == .testFailure && (rule.isEmpty || rule == Finding.Rule.failedTestCommand)
    }

    /// Whether only a test step can have found it.
    fileprivate var isOfTesting: Bool { isOfTest || isFailureOutsideOfTests }
}

extension AttemptRecord {
    /// Whether all of its test steps ran to their end, so that a filtered attempt can build on its results.
    package var hasWholeTests: Bool {
        guard let verdict = state.verdict, !verdict.isOurFault, verdict != .canceled else { return false }
        let testing = steps.filter { $0.step == .testing && $0.name != JobStep.list }
        return !testing.isEmpty && testing.allSatisfy { $0.endedAt != nil && $0.signal == nil && $0.limit == nil }
    }
}
