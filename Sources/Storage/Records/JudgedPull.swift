package import Model

/// Whether a pull request's head has come into its base without anybody telling of it.
package struct JudgedPull: Hashable, Sendable {
    package var head: CommitID
    /// The base's tip in which it was looked for.
    package var tip: CommitID
    /// Whether it is there, and was not when it was first seen.
    package var isMerged: Bool

    package init(head: CommitID, tip: CommitID, isMerged: Bool) {
        self.head = head
        self.tip = tip
        self.isMerged = isMerged
    }
}
