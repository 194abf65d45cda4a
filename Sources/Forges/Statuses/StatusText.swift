import Model
import Storage

/// Writes the sentence of a commit's status.
enum StatusText {
    /// Returns the sentence.
    /// - Parameters:
    ///   - summary: The counts of the integration or the job; `nil` if unknown.
    ///   - changes: The changes against the branch's previous integration; `nil` for a job.
    static func sentence(
        _ content: OutboxContent, summary: Summary?, changes: Store.IssueChanges? = nil
    ) -> String {
        guard let verdict = content.verdict else { return sentence(of: content) }
        func because(_ what: String) -> String { content.reason.map { "\(what): \($0)" } ?? what }
        switch IntegrationResult(verdict: verdict, triggerFailed: content.hasFailedTrigger) {
        case .triggerError: return because("a trigger failed")
        case .verdict(.canceled): return because("canceled")
        case .verdict(.checkoutError): return because("checkout error")
        case .verdict(.internalError): return because("internal error")
        case .verdict(let verdict):
            let parts = (summary.map(parts) ?? []) + (changes.map(parts) ?? [])
            if !parts.isEmpty { return parts.joined(separator: ", ") }
            return verdict == .succeeded ? "succeeded" : because(word(of: verdict))
        }
    }

    private static func sentence(of content: OutboxContent) -> String {
        switch content.moment {
        case .started: "running"
        case .jobs: content.hasBegun ? "running" : "queued"
        case .skipped: "skipped" + (content.reason.map { ": \($0)" } ?? "")
        case .queued, .completed, .published: content.run == 1 ? "queued" : "queued to run again"
        }
    }

    private static func word(of verdict: Verdict) -> String {
        verdict.rawValue.replacing("-", with: " ")
    }

    /// Returns the findings in words, the worst first.
    private static func parts(_ summary: Summary) -> [String] {
        let counts = summary.counts
        var parts: [String] = []
        func add(_ number: Int, _ noun: StaticString) { if number > 0 { parts.append(number.counting(noun)) } }
        add(counts.errors, "error")
        if let tally = summary.tally {
            parts.append(tally.sentence)
        } else if counts.testFailures > 0 {
            parts.append(
                counts.tests > 0
                    ? "\(counts.testFailures) of \(counts.tests.counting("test")) failed"
                    : counts.testFailures.counting("test failure"))
        } else if counts.tests > 0 {
            parts.append(counts.tests.counting("test") + " passed")
        }
        add(counts.analyzerWarnings, "analyzer warning")
        add(counts.warnings, "warning")
        return parts
    }

    private static func parts(_ changes: Store.IssueChanges) -> [String] {
        var parts: [String] = []
        if changes.new > 0 { parts.append(changes.new.counting("new issue")) }
        if changes.fixedTests > 0 { parts.append(changes.fixedTests.counting("test") + " fixed") }
        if changes.fixedOthers > 0 { parts.append(changes.fixedOthers.counting("issue") + " fixed") }
        return parts
    }
}
