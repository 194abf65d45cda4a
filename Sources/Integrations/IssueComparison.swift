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
    /// False when no job ran: then only triggers are judged.
    var hasLookedAtCode = true
    /// What is wrong with the recipe, and kept the jobs from running.
    var recipe: [Finding] = []

    /// All that was found, each once.
    var current: [Baseline.Found] {
        var found = configurations.flatMap { configuration in
            configuration.findings.map {
                Baseline.Found(
                    fingerprint: $0.fingerprint, content: $0.content, finding: $0.finding,
                    configurations: [configuration.name])
            }
        }
        for trigger in triggers where trigger.state == .failed {
            let message = "the trigger \(trigger.trigger) failed: \(trigger.reason ?? "see its log")"
            let rule = Self.rule(of: trigger.trigger)
            found.append(
                Self.ours(
                    Finding(category: .triggerError, message: message, rule: rule), key: "trigger-error\n\(rule)"))
        }
        for finding in recipe {
            let key = Fingerprinter.keys(of: finding, lineText: nil, occurrence: 0)
            found.append(Self.ours(finding, key: key.place, content: key.content))
        }
        return Baseline.joined(found)
    }

    private static func ours(_ finding: Finding, key: String, content: String? = nil) -> Baseline.Found {
        let fingerprint = Digest.sha256(of: Array(key.utf8))
        return Baseline.Found(
            fingerprint: fingerprint, content: content.map { Digest.sha256(of: Array($0.utf8)) } ?? fingerprint,
            finding: finding, configurations: [])
    }

    /// The integration's issues, the resolved ones last; none is silenced, and the new ones are nobody's.
    ///
    /// What nobody looked for is not resolved: a test that was not run, an analysis that did not end, a warning of a
    /// build that failed are taken to be still there.
    /// - Parameters:
    ///   - current: Its own.
    ///   - changes: What became of the files since `before`.
    ///   - number: The integration's.
    func issues(
        _ current: [Baseline.Found], before: [Issue], changes: SourceChanges = SourceChanges(), number: Int
    ) -> [Issue] {
        Baseline.compare(current: current, before: before, changes: changes, number: number, unlooked: unlooked)
    }

    /// In which configurations an issue must be taken to be still there; nothing: in none.
    func unlooked(_ issue: Issue) -> [Name]? {
        if issue.finding.category == .triggerError { return remains(trigger: issue) ? [] : nil }
        if !hasLookedAtCode { return issue.configurations }
        let names = configurations.filter { configuration in
            issue.configurations.contains(configuration.name) && !hasLooked(configuration, for: issue.finding)
        }.map(\.name)
        return names.isEmpty ? nil : names
    }

    private static func rule(of trigger: Name) -> String { "martlet.trigger.\(trigger)" }

    /// A trigger that failed and was not tried again has not been mended; one that the bot no longer has, has.
    private func remains(trigger issue: Issue) -> Bool {
        let isThere = triggerNames.contains { Self.rule(of: $0) == issue.finding.rule }
        return isThere
            && !triggers.contains { $0.state == .succeeded && Self.rule(of: $0.trigger) == issue.finding.rule }
    }

    private func hasLooked(_ configuration: Configuration, for finding: Finding) -> Bool {
        if let test = finding.flakyTest { return hasRun(test, configuration) }
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
        case .testFailure: return hasRun(finding.rule, configuration)
        }
    }

    /// Whether a test was run, or would have been if it were there.
    private func hasRun(_ test: String, _ configuration: Configuration) -> Bool {
        if configuration.tests.contains(where: { $0.fullName == test }) { return true }
        let isWhole = configuration.steps.contains {
            $0.step == .testing && $0.name != JobPlanner.listStep && $0.endedAt != nil && $0.signal == nil
                && $0.limit == nil
        }
        return isWhole && !configuration.tests.contains { $0.outcome == .crashed }
    }

    private static func hasSucceeded(_ step: JobStep, _ configuration: Configuration) -> Bool {
        configuration.steps.contains { $0.step == step && $0.exit == 0 && $0.limit == nil }
    }
}
