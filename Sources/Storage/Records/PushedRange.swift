package import Model

/// What a push brought to a bot's ref, of which nothing was judged yet.
package struct PushedRange: Hashable, Sendable {
    /// What was judged last; nothing: the ref is new.
    package var before: CommitID?
    /// Whether earlier pushes belong to it, whose integrations ended before they said anything of the code.
    package var hasEarlier: Bool

    package init(before: CommitID?, hasEarlier: Bool) {
        self.before = before
        self.hasEarlier = hasEarlier
    }
}
