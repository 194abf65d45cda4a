package import Model

/// A pull request of a repository, as events announced it and the last scan saw it.
package struct PullRequestRecord: Hashable, Sendable {
    package var number: Int
    /// The pull request's name in the ledger.
    package var ref: RefName
    /// The ref that is searched for the pull request's head.
    package var place: RefName
    package var base: RefName
    package var isOpen: Bool
    /// Whether the pull request was reopened, or its base changed, since the last scan.
    package var hasChanged: Bool
    /// The head; `nil` before a scan has found it.
    package var head: CommitID?
    /// The branch of the repository whose tip was this head in the scan that found it; `nil` if the head is a fork's.
    package var source: RefName?
    /// The number of its heads so far.
    package var generation: Int
    /// The tip of its base in the scan that first saw this head for this base.
    package var baseTip: CommitID?
    /// The tip of its base that was last searched for the head.
    package var judgedTip: CommitID?
    /// The time of the first of the consecutive scans that did not list the head.
    package var missingSince: Timestamp?

    /// The pull request as watchers judge it; `nil` before a scan has found its head.
    package var seen: SeenPullRequest? {
        head.map { SeenPullRequest(number: number, base: base, head: $0, source: source) }
    }
}
