package import Model

/// An integration to be queued. A moved ref, a user, a schedule or an upgrade may have caused it.
package struct NewIntegration: Hashable, Sendable {
    package var bot: Name
    package var ref: RefName
    package var commit: CommitID
    package var cause: Cause
    /// The token's name or the machine's user that requested it; `nil` if no user did.
    package var requestedBy: String?
    /// Whether it may publish or upload.
    package var isRelease: Bool
    /// Whether the workspace is emptied first.
    package var isClean: Bool
    /// Its pull request; `nil` for a branch or a tag.
    package var pull: IntegratedPullRequest?

    package init(
        bot: Name, ref: RefName, commit: CommitID, cause: Cause, requestedBy: String? = nil, isRelease: Bool = false,
        isClean: Bool = false, pull: IntegratedPullRequest? = nil
    ) {
        self.pull = pull
        self.bot = bot
        self.ref = ref
        self.commit = commit
        self.cause = cause
        self.requestedBy = requestedBy
        self.isRelease = isRelease
        self.isClean = isClean
    }
}
