package import Model

/// Which integrations a listing has; every condition that is given must hold.
package struct IntegrationFilter: Hashable, Sendable {
    package var bot: Name?
    /// `queued`, `running` or `completed`.
    package var state: String?
    package var ref: RefName?
    package var commit: CommitID?
    package var verdict: Verdict?
    /// False: those that were left out are not listed.
    package var hasSkipped = true
    /// Whether those of pull requests are left out: what they come to is no state of the bot's branches.
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
