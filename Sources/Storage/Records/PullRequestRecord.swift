package import Model

/// A pull request of a repository, as events told of it and the last look saw it.
package struct PullRequestRecord: Hashable, Sendable {
    package var number: Int
    /// Its name in the ledger.
    package var ref: RefName
    /// The ref at which its head is looked for.
    package var place: RefName
    package var base: RefName
    package var isOpen: Bool
    /// Whether it was opened again, or got another base, since the last look.
    package var hasChanged: Bool
    /// Nothing before a look has found it.
    package var head: CommitID?
    /// The branch of the repository that had this head at its tip in the look that found it; nothing: it is a fork's.
    package var source: RefName?
    /// Counts its heads.
    package var generation: Int
    /// The tip of its base in the look that first saw this head for this base.
    package var baseTip: CommitID?
    /// The tip of its base in which the head was last looked for.
    package var judgedTip: CommitID?
    /// The first look in a row that did not list the head.
    package var missingSince: Timestamp?

    /// As answers see it; nothing before a look has found it.
    package var seen: SeenPullRequest? {
        head.map { SeenPullRequest(number: number, base: base, head: $0, source: source) }
    }
}
