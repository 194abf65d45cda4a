import Archives
import Model
import Reports
import Storage

/// Compares what an integration's attempts found with the branch's integration before.
struct IssueComparison {
    /// What one configuration's last attempt says.
    struct Configuration {
        var name: Name
        var steps: [StepRecord]
        var findings: [StoredFinding]
        var tests: [TestResult]
    }

    var configurations: [Configuration]
    /// The newest try at each trigger.
    var triggers: [TriggerRecord] = []
    /// The triggers that the bot has.
    var triggerNames: [Name] = []

    /// The integration's issues, the resolved ones last.
    ///
    /// What nobody looked for is not resolved: a test that was not run, an analysis that did not end, a warning of a
    /// build that failed are taken to be still there.
    /// - Parameter hasLookedAtCode: False when no job ran: then only triggers are judged.
    func issues(before: [Issue], hasLookedAtCode: Bool = true) -> [Issue] {
        var current = configurations.flatMap { configuration in
            configuration.findings.map {
                (fingerprint: $0.fingerprint, finding: $0.finding, configurations: [configuration.name])
            }
        }
        for trigger in triggers where trigger.state == .failed {
            let message = "the trigger \(trigger.trigger) failed: \(trigger.reason ?? "see its log")"
            let rule = Self.rule(of: trigger.trigger)
            current.append(
                (
                    fingerprint: Digest.sha256(of: Array("trigger-error\n\(rule)".utf8)),
                    finding: Finding(category: .triggerError, message: message, rule: rule), configurations: []
                ))
        }
        return Baseline.compare(current: current, before: before) { issue in
            issue.finding.category == .triggerError ? remains(trigger: issue) : !hasLookedAtCode || remains(issue)
        }
    }

    private static func rule(of trigger: Name) -> String { "martlet.trigger.\(trigger)" }

    /// A trigger that failed and was not tried again has not been mended; one that the bot no longer has, has.
    private func remains(trigger issue: Issue) -> Bool {
        let isThere = triggerNames.contains { Self.rule(of: $0) == issue.finding.rule }
        return isThere
            && !triggers.contains { $0.state == .succeeded && Self.rule(of: $0.trigger) == issue.finding.rule }
    }

    private func remains(_ issue: Issue) -> Bool {
        configurations.contains { configuration in
            issue.configurations.contains(configuration.name) && !hasLooked(configuration, for: issue.finding)
        }
    }

    private func hasLooked(_ configuration: Configuration, for finding: Finding) -> Bool {
        switch finding.category {
        // A file that does not compile is compiled again by every build until it does.
        case .triggerError: return false
        case .error: return configuration.steps.contains { $0.step == .building }
        case .warning: return Self.hasSucceeded(.building, configuration)
        case .analyzerWarning:
            let steps = configuration.steps.filter { $0.step == .analyzing }
            let hasFailed = configuration.findings.contains { AttemptReading.failedAnalysis.contains($0.finding.rule) }
            return !steps.isEmpty && !hasFailed
                && steps.allSatisfy { $0.endedAt != nil && $0.signal == nil && $0.limit == nil }
        case .testFailure:
            if configuration.tests.contains(where: { $0.fullName == finding.rule }) { return true }
            let isWhole = configuration.steps.contains {
                $0.step == .testing && $0.name != JobPlanner.listStep && $0.endedAt != nil && $0.signal == nil
                    && $0.limit == nil
            }
            return isWhole && !configuration.tests.contains { $0.outcome == .crashed }
        }
    }

    private static func hasSucceeded(_ step: JobStep, _ configuration: Configuration) -> Bool {
        configuration.steps.contains { $0.step == step && $0.exit == 0 && $0.limit == nil }
    }
}
