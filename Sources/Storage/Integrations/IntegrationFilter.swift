package import Model

/// The conditions of an integration listing. Every condition that is not `nil` must hold.
package struct IntegrationFilter: Hashable, Sendable {
    package var bot: Name?
    /// `queued`, `running` or `completed`.
    package var state: String?
    package var ref: RefName?
    package var commit: CommitID?
    package var verdict: Verdict?
    /// Whether skipped integrations are listed.
    package var hasSkipped = true
    /// Whether integrations of pull requests are left out: their results are no state of the bot's branches.
    package var leavesOutPulls: Bool

    package init(
        bot: Name? = nil, state: String? = nil, ref: RefName? = nil, commit: CommitID? = nil, verdict: Verdict? = nil,
        leavesOutPulls: Bool = false
    ) {
        self.leavesOutPulls = leavesOutPulls
        self.bot = bot
        self.state = state
        self.ref = ref
        self.commit = commit
        self.verdict = verdict
    }
}
