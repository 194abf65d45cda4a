/// What can have happened to a branch between two integrations.
package enum Transition: String, Hashable, Sendable, Codable, CaseIterable {
    /// It was good, or was never integrated, and has errors or failing tests now.
    case broke
    /// It had errors or failing tests, and has none.
    case fixed
    /// It has an error, analyzer warning or failing test that it did not have; whether it is good or not.
    case newIssue = "new-issue"
    /// A version was published.
    case released

    /// What happened to the code, by weight: what comes first says the others, too.
    /// - Parameters:
    ///   - before: What the branch stood at; nothing: it was never integrated to an end that says something of it.
    ///   - news: How many issues are new and `isTold`.
    /// - Returns: Nothing for what says nothing of the code (canceled, a fault of ours), unless a trigger ended it, and for a rerun of
    ///   what is not the branch's newest.
    package static func all(of integration: Told, after before: Standing?, news: Int) -> [Transition] {
        guard let verdict = integration.verdict, integration.number >= before?.number ?? 0 else { return [] }
        guard Standing.says(verdict) else {
            // A rerun finds it once more.
            return integration.hasNewTriggerFailure && integration.run == 1 && news > 0 ? [.newIssue] : []
        }
        var found: [Transition] = []
        if !verdict.isPublishable, before?.isGood ?? true { found.append(.broke) }
        if verdict.isPublishable, let before, !before.isGood { found.append(.fixed) }
        // A rerun finds what the run before found new once more.
        if news > 0, let before, integration.number > before.number { found.append(.newIssue) }
        return found
    }

    /// The integration that transitions are asked of.
    package struct Told: Hashable, Sendable {
        package var number: Int
        package var run: Int
        package var verdict: Verdict?
        /// Whether a failed trigger canceled it, and did not cancel the one before it: all that follow are canceled alike.
        package var hasNewTriggerFailure: Bool

        package init(number: Int, run: Int, verdict: Verdict?, hasNewTriggerFailure: Bool = false) {
            self.number = number
            self.run = run
            self.verdict = verdict
            self.hasNewTriggerFailure = hasNewTriggerFailure
        }
    }
}

/// What a branch of a bot stands at, by the newest integration that says something of its code.
package struct Standing: Hashable, Sendable, Codable {
    package var isGood: Bool
    /// The integration's.
    package var number: Int
    /// The integration that broke it, and its run; nothing while it is good, and where that is not known.
    package var brokenBy: Run?

    /// One run of an integration of the same bot.
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

    /// Whether a verdict says something of the code: neither canceled nor ended by a fault of ours.
    package static func says(_ verdict: Verdict) -> Bool { verdict != .canceled && !verdict.isOurFault }

    /// What the branch stands at after an integration; nothing when it stays as it is: the integration says nothing, or a newer one
    /// has been told of.
    package static func after(_ integration: Transition.Told, before: Standing?) -> Standing? {
        guard let verdict = integration.verdict, says(verdict), integration.number >= before?.number ?? 0 else {
            return nil
        }
        if verdict.isPublishable { return Standing(isGood: true, number: integration.number) }
        let isBroken = before?.isGood ?? true
        return Standing(
            isGood: false, number: integration.number,
            brokenBy: isBroken ? Run(number: integration.number, run: integration.run) : before?.brokenBy)
    }
}

extension Issue {
    /// Whether it is worth telling people who do not look: new, counted, and no mere warning, of which flaky tests are.
    package var isTold: Bool { status == .new && finding.category != .warning }
}
