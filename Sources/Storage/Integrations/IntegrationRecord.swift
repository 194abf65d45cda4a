package import Model

/// An integration as it is stored.
package struct IntegrationRecord: Hashable, Sendable {
    package var id: IntegrationID
    /// The row's number, which is the cursor of listings.
    package var rowID: Int64
    package var repository: String
    package var commit: CommitID
    package var ref: RefName
    package var cause: Cause
    package var requestedBy: String?
    package var state: IntegrationState
    /// The number of the current run, counted from 1; each rerun adds one.
    package var run: Int
    /// The newer integration of the same ref that ended this one, or is about to.
    package var supersededBy: IntegrationID?
    /// Whether it was skipped for the stated reason: canceled before any part of it ran.
    package var isSkipped: Bool
    /// Whether it may publish or upload, that is, belongs to the `release` trust domain.
    package var isRelease: Bool
    /// Whether the workspace is emptied first.
    package var isClean: Bool
    /// The recipe that runs; `nil` until it is prepared.
    package var recipe: Recipe?
    package var subject: String?
    package var author: String?
    package var committedAt: Timestamp?
    package var tree: String?
    /// The counts of issues; `nil` until they are complete.
    package var summary: Summary?
    /// The reason for its state; `nil` if the state explains itself.
    package var reason: String?
    /// Its pull request; `nil` for a branch or a tag.
    package var pull: IntegratedPullRequest?
    package var queuedAt: Timestamp
    package var startedAt: Timestamp?
    package var endedAt: Timestamp?

    package init(
        id: IntegrationID, rowID: Int64, repository: String, commit: CommitID, ref: RefName, cause: Cause,
        requestedBy: String? = nil, state: IntegrationState = .queued, run: Int = 1,
        supersededBy: IntegrationID? = nil, isSkipped: Bool = false, isRelease: Bool = false, isClean: Bool = false,
        recipe: Recipe? = nil, subject: String? = nil, author: String? = nil, committedAt: Timestamp? = nil,
        tree: String? = nil, summary: Summary? = nil, reason: String? = nil,
        pull: IntegratedPullRequest? = nil, queuedAt: Timestamp,
        startedAt: Timestamp? = nil, endedAt: Timestamp? = nil
    ) {
        self.id = id
        self.rowID = rowID
        self.repository = repository
        self.commit = commit
        self.ref = ref
        self.cause = cause
        self.requestedBy = requestedBy
        self.state = state
        self.run = run
        self.supersededBy = supersededBy
        self.isSkipped = isSkipped
        self.isRelease = isRelease
        self.isClean = isClean
        self.recipe = recipe
        self.subject = subject
        self.author = author
        self.committedAt = committedAt
        self.tree = tree
        self.summary = summary
        self.reason = reason
        self.pull = pull
        self.queuedAt = queuedAt
        self.startedAt = startedAt
        self.endedAt = endedAt
    }

    /// The commit that users know and that gets the status. For a pull request this is its head, not the merge made from it.
    package var headCommit: CommitID { pull?.head ?? commit }
}
