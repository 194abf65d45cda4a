package import Model

/// What became of two commits that were to be merged.
package enum MergeOutcome: Sendable, Hashable {
    /// The commit that was made, the same for the same two in every run.
    case merged(CommitID)
    /// Both have changed the same lines, or the same file in ways that exclude each other.
    /// - Parameters:
    ///   - paths: The first `maximumPaths`, as text; bytes that are not UTF-8 are replaced.
    ///   - count: How many there are.
    case conflicts(paths: [String], count: Int)
    /// What they hold cannot be put into one tree, and why.
    case refused(String)

    /// Paths that are named.
    package static let maximumPaths = 5
}
