package import Model

/// The commits that a push brought to a bot's ref and that no integration has judged yet.
package struct PushedRange: Hashable, Sendable {
    /// The commit that was judged last; `nil` if the ref is new.
    package var before: CommitID?
    /// Whether earlier pushes are included, because their integrations ended without judging the code.
    package var hasEarlier: Bool

    package init(before: CommitID?, hasEarlier: Bool) {
        self.before = before
        self.hasEarlier = hasEarlier
    }
}
