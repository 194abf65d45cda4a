package import Model

/// A ref that was seen to have moved.
package struct RefUpdateRecord: Hashable, Sendable {
    /// The row's number: the cursor of listings.
    package var rowID: Int64
    package var repository: String
    package var ref: RefName
    /// Counts the ref's updates from 1, also through its deletion.
    package var generation: Int
    /// What *we* saw last; nothing when the ref was not there.
    package var before: CommitID?
    /// Nothing when the ref is gone.
    package var after: CommitID?
    package var fate: Fate
    package var reason: String?
    /// The integrations that it caused, one a bot at most.
    package var integrations: [IntegrationID]
    /// When the look saw it.
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
