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

    package init(
        bot: Name? = nil, state: String? = nil, ref: RefName? = nil, commit: CommitID? = nil, verdict: Verdict? = nil
    ) {
        self.bot = bot
        self.state = state
        self.ref = ref
        self.commit = commit
        self.verdict = verdict
    }
}
