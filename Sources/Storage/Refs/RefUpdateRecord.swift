package import Model

/// A movement of a ref that a scan saw.
package struct RefUpdateRecord: Hashable, Sendable {
    /// The row's number, which is the cursor of listings.
    package var rowID: Int64
    package var repository: String
    package var ref: RefName
    /// The number of the ref's update, counted from 1. The count continues when the ref is deleted and created again.
    package var generation: Int
    /// The commit that the previous scan saw; `nil` if the ref did not exist.
    package var before: CommitID?
    /// The new commit; `nil` if the ref is gone.
    package var after: CommitID?
    package var fate: Fate
    package var reason: String?
    /// The integrations that it caused, at most one per bot.
    package var integrations: [IntegrationID]
    /// The time of the scan.
    package var at: Timestamp

    package init(
        rowID: Int64, repository: String, ref: RefName, generation: Int, before: CommitID?, after: CommitID?,
        fate: Fate, reason: String?, integrations: [IntegrationID], at: Timestamp
    ) {
        self.rowID = rowID
        self.repository = repository
        self.ref = ref
        self.generation = generation
        self.before = before
        self.after = after
        self.fate = fate
        self.reason = reason
        self.integrations = integrations
        self.at = at
    }
}
