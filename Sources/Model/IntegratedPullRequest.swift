/// Which pull request an integration is of, and of which of its commits.
package struct IntegratedPullRequest: Hashable, Sendable {
    /// As the forge counts; GitLab calls it the merge request's `iid`.
    package var number: Int
    /// Where the repository has the head: `refs/pull/12/head`, `refs/merge-requests/12/head`, or a branch where a forge has no such refs.
    package var place: RefName
    /// The branch that it is to go into.
    package var base: RefName
    /// That branch's tip, as the look saw it that saw the head.
    package var baseCommit: CommitID
    package var head: CommitID
    /// A branch of the bot's own repository whose tip the head was in the same look: whoever wrote it may push there. Nothing: it is a
    /// fork's, whatever an event says.
    package var source: RefName?
    /// The operator who approved just this head; nothing where nobody was asked.
    package var approvedBy: String?
    /// Why the head alone was integrated and not its merge into the base; nothing: it merges, or that is not known yet.
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
