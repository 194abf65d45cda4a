package import Model

/// The result of a merge of two commits.
package enum MergeOutcome: Sendable, Hashable {
    /// The merge succeeded with this commit, which is the same for the same two commits in every run.
    case merged(CommitID)
    /// Both commits have changed the same lines, or the same file in incompatible ways.
    /// - Parameters:
    ///   - paths: The first `maximumPaths` paths, as text; bytes that are not UTF-8 are replaced.
    ///   - count: The number of all such paths.
    case conflicts(paths: [String], count: Int)
    /// The two trees cannot be merged, for this reason.
    case refused(String)

    /// The most paths that are listed.
    package static let maximumPaths = 5
}
