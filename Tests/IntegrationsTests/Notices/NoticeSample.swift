import BotSupport
import Model
import Storage

@testable import Integrations
@testable import Notifications

/// Facts that several suites use.
enum NoticeSample {
    static let root = "https://ci.acme.example"

    /// Returns facts about `kit#41` on main, by Ann, two minutes after noon.
    static func facts(_ transition: Transition, verdict: Verdict, issues: [Issue] = []) throws -> NoticeFacts {
        var integration = try Samples.integration(41)
        integration.author = "Ann"
        integration.subject = "Read the new form"
        integration.state = .completed(verdict, triggerFailed: false)
        var summary = Summary()
        (summary.counts.errors, summary.counts.testFailures, summary.counts.tests) = (1, 2, 120)
        summary.change.errors = 1
        integration.summary = summary
        integration.queuedAt = Timestamp(secondsSinceEpoch: 1_772_366_400)
        var facts = NoticeFacts(
            transition: transition, notice: try Samples.name("team"), integration: integration, run: 1, issues: issues,
            at: Timestamp(secondsSinceEpoch: 1_772_366_520), root: root)
        facts.counts.newTests = facts.news.count { $0.finding.category == .testFailure }
        facts.counts.newOthers = facts.news.count - facts.counts.newTests
        facts.counts.resolved = facts.resolved.count
        return facts
    }

    static func issue(
        _ category: Finding.Category, _ message: String, rule: String = "", path: String? = nil, line: Int? = nil,
        status: Issue.Status = .new, by author: String? = nil, confidence: Introduction.Confidence = .high
    ) throws -> Issue {
        let introduction = try author.map { author in
            Introduction(
                commit: try Samples.commit(41), author: author, email: "\(author.lowercased())@acme.example",
                strategy: .blameLineAgainstCommits, confidence: confidence)
        }
        return Issue(
            fingerprint: "f", status: status,
            finding: Finding(category: category, message: message, rule: rule, path: path, line: line), age: 1,
            since: 41,
            configurations: [try Samples.name("debug")], introducedBy: introduction)
    }
}
