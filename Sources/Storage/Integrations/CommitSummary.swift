package import Model

/// The facts about a commit that an integration stores, so that pages do not need the mirror.
package struct CommitSummary: Hashable, Sendable {
    /// The first line of the message; stored up to `Store.maximumTextBytes`.
    package var subject: String
    /// The author's name.
    package var author: String
    package var committedAt: Timestamp
    /// The tree's id, in hexadecimal.
    package var tree: String

    package init(subject: String, author: String, committedAt: Timestamp, tree: String) {
        self.subject = subject
        self.author = author
        self.committedAt = committedAt
        self.tree = tree
    }
}
