import Basics
package import Model
package import Storage

/// Compares the findings of an integration's attempts with the branch's previous integration.
package struct IssueComparison {
    /// The results of one configuration's last attempt.
    package struct Configuration {
        var name: Name
        var steps: [StepRecord]
        /// The findings of the attempt.
        fileprivate let found: [Baseline.Found]
        /// The tests of earlier issues (`IssueComparison.tests(of:)`) that were run.
        var tests: TestsRun
        /// Whether its recipe says `test: none`. Then no earlier test is missing.
        let testsNothing: Bool
        /// See `Recipe.mayTestNothing(_:)`.
        let mayTestNothing: Bool
        /// Whether a finding states that the analysis failed, and whether one states that a test command failed. Both are computed once, because each
        /// earlier issue needs them, and there may be 100,000 issues and as many findings.
        private let hasFailedAnalysis: Bool
        private let hasFailedTestCommand: Bool
        /// Whether it has the warning with the rule `Finding.Rule.nothingTested`.
        let isUntested: Bool

        package init(
            name: Name, steps: [StepRecord], findings: [StoredFinding], tests: TestsRun = TestsRun(),
            testsNothing: Bool = false, mayTestNothing: Bool = false
        ) {
            (self.name, self.steps, self.tests) = (name, steps, tests)
            // All of its findings share this array.
            let names = [name]
            found = findings.map { stored in
                Baseline.Found(
                    fingerprint: stored.fingerprint, content: stored.content, finding: stored.finding,
                    configurations: names, step: stored.step)
            }
            (self.testsNothing, self.mayTestNothing) = (testsNothing, mayTestNothing)
            hasFailedAnalysis = findings.contains {
                Finding.Rule.withoutAnalysis.contains($0.finding.rule) && ($0.step ?? .analyzing) == .analyzing
            }
            hasFailedTestCommand = findings.contains { $0.finding.rule == Finding.Rule.failedTestCommand }
            isUntested = findings.contains { $0.finding.rule == Finding.Rule.nothingTested }
        }

        private func steps(_ kind: JobStep) -> [StepRecord] {
            steps.filter { $0.step == kind && $0.name != JobStep.resolve && $0.name != JobStep.list }
        }

        /// Whether steps of a kind ran, and each of them ended by itself.
        func hasEnded(_ kind: JobStep) -> Bool {
            let steps = steps(kind)
            return !steps.isEmpty && steps.allSatisfy { $0.endedAt != nil && $0.signal == nil && $0.limit == nil }
        }

        /// Whether the step whose failure a finding reports ended otherwise this time, by itself or at a limit. The finding is no longer true then,
        /// even if the build failed.
        func hasEndedOtherwise(than finding: Finding) -> Bool {
            steps(.building).contains {
                finding.isFailure(ofStep: $0.name)
                    && ($0.exit != nil && $0.signal == nil || $0.limit != nil)
            }
        }

        func hasBuilt() -> Bool { hasEnded(.building) && steps(.building).allSatisfy { $0.exit == 0 } }

        /// Whether all steps succeeded, so that their products are archived. A failed analysis does not prevent that.
        func hasArchived() -> Bool {
            !steps.isEmpty && steps.allSatisfy { $0.endedAt != nil && ($0.exit == 0 || $0.step == .analyzing) }
        }

        func hasResolved() -> Bool {
            steps.contains { $0.name == JobStep.resolve && $0.exit == 0 } || hasBuilt()
        }

        /// Whether the analysis has a result. A failed one, or one with an unreadable report, has none.
        func hasAnalyzed() -> Bool { hasEnded(.analyzing) && !hasFailedAnalysis }

        /// Whether the results cover all tests. A command that failed without naming a test covers none, and neither does one that found no test.
        func hasTested() -> Bool {
            if testsNothing { return !steps.isEmpty }
            return hasEnded(.testing) && !tests.hasCrashed
                && (tests.isAny || steps(.testing).allSatisfy { $0.exit == 0 })
                && !hasFailedTestCommand && !isUntested
        }

        /// Whether tests that are missing from the results no longer exist. If all are missing at once, they were not run, and this is false.
        func hasLostTests() -> Bool { hasTested() && (tests.isAny || testsNothing) }
    }

    package var configurations: [Configuration]
    /// The newest run of each trigger.
    let triggers: [TriggerRecord]
    /// The names of the bot's triggers.
    let triggerNames: [Name]
    /// Whether jobs ran. If not, only triggers are compared.
    package var hasLookedAtCode = true
    /// The errors of the recipe that kept the jobs from running.
    package var recipe: [Finding] = []

    package init(configurations: [Configuration], triggers: [TriggerRecord] = [], triggerNames: [Name] = []) {
        (self.configurations, self.triggers, self.triggerNames) = (configurations, triggers, triggerNames)
    }

    /// All findings, each once. The findings of a single configuration are not copied.
    package var current: [Baseline.Found] {
        var found = configurations.first?.found ?? []
        for configuration in configurations.dropFirst() { found += configuration.found }
        for trigger in triggers where trigger.state == .failed {
            let message = "the trigger \(trigger.trigger) failed: \(trigger.reason ?? "see its log")"
            let rule = Finding.Rule.failedTrigger(trigger.trigger)
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

    /// Returns the integration's issues, with the resolved ones last. None of them is muted, and no author of the new ones is known yet.
    ///
    /// An issue that was not searched is not resolved. A test that was not run, an analysis that did not end, and a warning of a failed build are
    /// presumed to be still present.
    /// - Parameters:
    ///   - current: The findings of this integration.
    ///   - changes: The changes to the files since `before`.
    ///   - number: The integration's number.
    package func issues(
        _ current: [Baseline.Found], before: [Issue], changes: SourceChanges = SourceChanges(), number: Int
    ) -> [Issue] {
        Baseline.compare(current: current, before: before, changes: changes, number: number, unlooked: unlooked)
    }

    /// Returns the configurations in which an issue must be presumed present; `nil` if it is resolved. The issue of a failed trigger has no
    /// configurations, so an array for it is empty.
    func unlooked(_ issue: Issue) -> [Name]? {
        if issue.finding.category == .triggerError { return remains(trigger: issue) ? [] : nil }
        if !hasLookedAtCode { return issue.configurations }
        let names = configurations.filter { configuration in
            issue.configurations.contains(configuration.name) && !hasLooked(configuration, for: issue)
        }.map(\.name)
        return names.isEmpty ? nil : names
    }

    /// Whether no configuration ran any test, although not all of them say `test: none`.
    package var isUntested: Bool {
        configurations.contains(where: \.isUntested)
            && configurations.allSatisfy { $0.isUntested || $0.mayTestNothing && !$0.tests.isAny }
    }

    /// Returns the full names of the tests that issues are about.
    package static func tests(of issues: [Issue]) -> Set<String> {
        Set(issues.map(\.finding).filter(\.isOfTest).map { $0.flakyTest ?? $0.rule })
    }

    /// Whether the issue of a failed trigger remains. It remains if the trigger has not succeeded since, unless the bot no longer has the trigger.
    private func remains(trigger issue: Issue) -> Bool {
        let isThere = triggerNames.contains { Finding.Rule.failedTrigger($0) == issue.finding.rule }
        return isThere
            && !triggers.contains {
                $0.state == .succeeded && Finding.Rule.failedTrigger($0.trigger) == issue.finding.rule
            }
    }

    private func hasLooked(_ configuration: Configuration, for issue: Issue) -> Bool {
        let finding = issue.finding
        if finding.isOfTest, !finding.rule.isEmpty {
            // A test that is skipped now is not an issue either: someone disabled it, and the list of tests shows that.
            return configuration.tests.named.contains(finding.flakyTest ?? finding.rule)
                || configuration.hasLostTests()
        }
        if configuration.hasEndedOtherwise(than: finding) { return true }
        if finding.rule == Finding.Rule.preparation { return !configuration.steps.isEmpty }
        if finding.rule == Finding.Rule.nearlyRightName { return !configuration.steps.isEmpty }
        if finding.rule == Finding.Rule.leftOut { return configuration.hasArchived() }
        if finding.rule == Finding.Rule.failedTestCommand || finding.rule == Finding.Rule.nothingTested {
            return configuration.hasTested()
        }
        switch (issue.step, finding.category) {
        case (_, .triggerError): return false
        case (.building, .error):
            // A file that does not compile is compiled again by every build until it does.
            return finding.rule == Finding.Rule.failedResolution
                ? configuration.hasResolved() : configuration.hasEnded(.building)
        case (.building, _): return configuration.hasBuilt()
        case (.analyzing, _): return configuration.hasAnalyzed()
        case (.testing, _): return configuration.hasTested()
        // The issue was stored by an older version, or belongs to no step, such as a limit of the whole job.
        case (_, .error): return configuration.hasEnded(.building)
        case (_, .warning): return configuration.hasBuilt()
        case (_, .analyzerWarning): return configuration.hasAnalyzed()
        case (_, .testFailure): return configuration.hasTested()
        }
    }
}
