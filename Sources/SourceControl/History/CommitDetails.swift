package import Model

/// The contents of a commit object. Names, times and texts are the author's claims.
package struct CommitDetails: Sendable, Hashable {
    /// The longest message that is kept, in bytes. The rest is cut off.
    package static let maximumMessageLength = 64 * 1024

    package let id: CommitID
    /// The id of the root tree. Commits with the same id have the same files.
    package let tree: String
    package let parents: [CommitID]
    package let authorName: String
    package let authorEmail: String
    package let authoredAt: Timestamp
    package let committedAt: Timestamp
    /// The message's first paragraph on one line.
    package let subject: String
    package let message: String
}
