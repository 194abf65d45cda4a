package import Model

/// A commit as its object says it. Names, times and texts are the author's claims.
package struct CommitDetails: Sendable, Hashable {
    /// Longest message that is kept, in bytes; the rest is cut off.
    package static let maximumMessageLength = 64 * 1024

    package let id: CommitID
    /// The id of the root tree: commits with the same one have the same files.
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
