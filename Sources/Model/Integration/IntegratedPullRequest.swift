/// The pull request and its commits that an integration is of.
package struct IntegratedPullRequest: Hashable, Sendable {
    /// The number at the forge. GitLab calls it the merge request's `iid`.
    package var number: Int
    /// The ref of the head in the repository: `refs/pull/12/head`, `refs/merge-requests/12/head`, or a branch if the forge has no such refs.
    package var place: RefName
    /// The branch into which it is to be merged.
    package var base: RefName
    /// The tip of that branch in the scan that found the head.
    package var baseCommit: CommitID
    package var head: CommitID
    /// The branch of the bot's own repository whose tip was the head in the same scan, so its author may push there. `nil` means that the head comes
    /// from a fork, even if an event states otherwise.
    package var source: RefName?
    /// The operator who approved exactly this head; `nil` if no approval was needed.
    package var approvedBy: String?
    /// Why the head alone was integrated and not its merge into the base. `nil` if it merges, or that is not known yet.
    package var unmerged: String?

    package init(
        number: Int, place: RefName, base: RefName, baseCommit: CommitID, head: CommitID, source: RefName? = nil,
        approvedBy: String? = nil, unmerged: String? = nil
    ) {
        self.number = number
        self.place = place
        self.base = base
        self.baseCommit = baseCommit
        self.head = head
        self.source = source
        self.approvedBy = approvedBy
        self.unmerged = unmerged
    }

    package var isTrusted: Bool { source != nil }
}
