package import Model

/// An integration as lists show it. Its recipe and its bot's specification, which can have thousands of bytes, are not decoded.
package struct IntegrationOutline: Hashable, Sendable {
    package var id: IntegrationID
    /// The row's number, which is the cursor of listings.
    package var rowID: Int64
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
    package var subject: String?
    package var author: String?
    /// What the project was recognized as, in one sentence; `nil` if it was not recognized, or not yet.
    package var project: String?
    /// The counts of issues; `nil` until they are complete.
    package var summary: Summary?
    /// The reason for its state; `nil` if the state explains itself.
    package var reason: String?
    /// Its pull request; `nil` for a branch or a tag.
    package var pull: IntegratedPullRequest?
    package var queuedAt: Timestamp
    package var startedAt: Timestamp?
    package var endedAt: Timestamp?

    /// The commit that users know and that gets the status. For a pull request this is its head, not the merge made from it.
    package var headCommit: CommitID { pull?.head ?? commit }
}

extension IntegrationRecord {
    /// The integration as lists show it.
    package var outline: IntegrationOutline {
        IntegrationOutline(
            id: id, rowID: rowID, commit: commit, ref: ref, cause: cause, requestedBy: requestedBy, state: state,
            run: run,
            supersededBy: supersededBy, isSkipped: isSkipped, subject: subject, author: author,
            project: recipe?.recognition?.sentence, summary: summary, reason: reason, pull: pull, queuedAt: queuedAt,
            startedAt: startedAt, endedAt: endedAt)
    }
}
