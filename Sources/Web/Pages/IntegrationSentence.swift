import Model
import Storage

/// Sentences about an integration in plain words.
enum IntegrationSentence {
    /// Returns the verdict, or what an integration waits for or does, as a sentence: `Tests fail: 400 tests in 3 configurations, 4 fail, 1 skipped.`
    static func verdict(of record: IntegrationRecord, attempts: [AttemptRecord]) -> String {
        switch record.state {
        case .queued: return record.run > 1 ? "It waits to run again." : "It waits to run."
        case .running(let step):
            let current = step == .running ? attempts.leastAdvancedStep?.rawValue ?? step.rawValue : step.rawValue
            let done = attempts.count { $0.state.verdict != nil }
            return "It runs: \(current)"
                + (attempts.count > 1 ? ", \(done) of \(PageText.count(attempts.count, "configuration")) done." : ".")
        case .completed:
            let counts = record.summary.map(parts) ?? []
            let words = words(of: record)
            return counts.isEmpty ? words + "." : "\(words): \(counts.joined(separator: ", "))."
        }
    }

    private static func words(of record: IntegrationRecord) -> String {
        if record.isSkipped { return "Skipped" }
        guard case .verdict(let verdict)? = record.state.result else { return "A trigger failed" }
        return switch verdict {
        case .canceled: "Canceled"
        case .succeeded: "Passed"
        case .warnings: "Passed with warnings"
        case .analyzerWarnings: "Passed with warnings of an analyzer"
        case .testFailures: "Tests fail"
        case .buildErrors: "It does not build"
        case .checkoutError: "It could not be checked out"
        case .internalError: "Martlet or its machine failed"
        }
    }

    /// Returns the counts that are not zero, errors first. The tests' count is the same on every page.
    private static func parts(_ summary: Summary) -> [String] {
        let counts = summary.counts
        return [
            counts.errors == 0 ? nil : PageText.count(counts.errors, "error"), summary.testSentence,
            counts.warnings == 0 ? nil : PageText.count(counts.warnings, "warning"),
            counts.analyzerWarnings == 0 ? nil : PageText.count(counts.analyzerWarnings, "analyzer warning"),
        ].compactMap(\.self)
    }

    /// Returns why an integration was queued: `pushed`, `found by polling`, `pull request from a fork`.
    static func cause(_ cause: Cause, pull: IntegratedPullRequest?, requestedBy person: String?) -> String {
        switch cause {
        case .push: "pushed"
        case .poll: "found by polling"
        case .schedule: "by the schedule"
        case .person: person.map { "requested by \($0)" } ?? "requested"
        case .baseline: "first integration of the branch"
        case .pull: pull.map { $0.source == nil ? "pull request from a fork" : "pull request" } ?? "pull request"
        case .upgrade: "new version of the toolchain" + (person.map { ": \($0)" } ?? "")
        }
    }
}
