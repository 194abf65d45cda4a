package import Model

/// What a mirror says of a commit: all that preparing an integration needs of it.
package struct CommitContent: Sendable, Hashable {
    package let details: CommitDetails
    /// The names in the root of its tree; those that are not UTF-8 are repaired.
    package let rootEntries: [String]
    /// The file that was asked for; `nil` if there is none, or it is no regular file.
    package let file: [UInt8]?
    /// What tells its kinds of project; `nil` when it was not asked for.
    package var project: ProjectTree?
}
