package import Model

/// An integration to be queued that no ref update causes: a person's, a schedule's or an upgrade's.
package struct NewIntegration: Hashable, Sendable {
    package var bot: Name
    package var ref: RefName
    package var commit: CommitID
    package var cause: Cause
    /// The token's name or the machine's user who asked; nothing where no person did.
    package var requestedBy: String?
    /// Whether it may publish or upload.
    package var isRelease: Bool
    /// Whether the workspace is emptied first.
    package var isClean: Bool
    /// Which pull request it is of.
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
