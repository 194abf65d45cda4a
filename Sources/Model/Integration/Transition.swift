/// A change of a branch from one integration to another.
package enum Transition: String, Hashable, Sendable, Codable, CaseIterable {
    /// The branch has errors or failing tests. Before, it had none or was never integrated.
    case broke
    /// The branch had errors or failing tests, and has none now.
    case fixed
    /// The branch has a new error, analyzer warning or failing test, whether or not it is healthy.
    case newIssue = "new-issue"
    /// A version was published.
    case released

    /// Returns the transitions that an integration caused, the most important first.
    /// - Parameters:
    ///   - before: The branch's health before; `nil` if no integration has determined it.
    ///   - news: The number of new issues that `isNotified` selects.
    /// - Returns: An empty array if the integration does not determine the health of the code (see `BranchHealth.isDetermined(by:)`), unless a
    ///   trigger failed.
    ///   Also empty for a rerun of an integration that is not the branch's newest.
    package static func all(of integration: NotifiedIntegration, after before: BranchHealth?, news: Int) -> [Transition]
    {
        guard let verdict = integration.verdict, integration.number >= before?.number ?? 0 else { return [] }
        guard BranchHealth.isDetermined(by: verdict) else {
            // A rerun finds the same failure again.
            return integration.hasNewTriggerFailure && integration.run == 1 && news > 0 ? [.newIssue] : []
        }
        var found: [Transition] = []
        if !verdict.isPublishable, before?.isGood ?? true { found.append(.broke) }
        if verdict.isPublishable, let before, !before.isGood { found.append(.fixed) }
        // A rerun finds again what was new in the previous run.
        if news > 0, let before, integration.number > before.number { found.append(.newIssue) }
        return found
    }

    /// The integration whose transitions are determined.
    package struct NotifiedIntegration: Hashable, Sendable {
        package var number: Int
        package var run: Int
        package var verdict: Verdict?
        /// Whether a failed trigger canceled it, but not the integration before it. A failing trigger cancels all later integrations alike.
        package var hasNewTriggerFailure: Bool

        package init(number: Int, run: Int, verdict: Verdict?, hasNewTriggerFailure: Bool = false) {
            self.number = number
            self.run = run
            self.verdict = verdict
            self.hasNewTriggerFailure = hasNewTriggerFailure
        }
    }
}

/// The health of a bot's branch, by the newest integration that determined it.
package struct BranchHealth: Hashable, Sendable, Codable {
    package var isGood: Bool
    /// The number of that integration.
    package var number: Int
    /// The integration and run that broke the branch; `nil` while the branch is healthy, and if it is unknown.
    package var brokenBy: Run?

    /// A run of an integration of the same bot.
    package struct Run: Hashable, Sendable, Codable {
        package var number: Int
        package var run: Int

        package init(number: Int, run: Int) {
            self.number = number
            self.run = run
        }
    }

    package init(isGood: Bool, number: Int, brokenBy: Run? = nil) {
        self.isGood = isGood
        self.number = number
        self.brokenBy = brokenBy
    }

    /// Whether a verdict determines the health of the code: the integration was neither canceled nor failed by a fault of Martlet or the machine.
    package static func isDetermined(by verdict: Verdict) -> Bool { verdict != .canceled && !verdict.isOurFault }

    /// Returns the branch's health after an integration. `nil` if it does not change: the integration does not determine it, or a newer integration
    /// already has.
    package static func after(_ integration: Transition.NotifiedIntegration, before: BranchHealth?) -> BranchHealth? {
        guard let verdict = integration.verdict, isDetermined(by: verdict), integration.number >= before?.number ?? 0
        else {
            return nil
        }
        if verdict.isPublishable { return BranchHealth(isGood: true, number: integration.number) }
        let isBroken = before?.isGood ?? true
        return BranchHealth(
            isGood: false, number: integration.number,
            brokenBy: isBroken ? Run(number: integration.number, run: integration.run) : before?.brokenBy)
    }
}

extension Issue {
    /// Whether the issue is reported in notifications: it is new and not a mere warning. Flaky tests are warnings.
    package var isNotified: Bool { status == .new && finding.category != .warning }
}
