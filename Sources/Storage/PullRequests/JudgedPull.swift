package import Model

/// The result of checking whether a pull request's head has been merged into its base without an event.
package struct JudgedPull: Hashable, Sendable {
    package var head: CommitID
    /// The tip of the base that was searched for the head.
    package var tip: CommitID
    /// Whether the tip contains the head now, and did not when the head was first seen.
    package var isMerged: Bool

    package init(head: CommitID, tip: CommitID, isMerged: Bool) {
        self.head = head
        self.tip = tip
        self.isMerged = isMerged
    }
}
