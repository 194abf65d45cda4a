package import Model

/// The contents of a commit that are needed to prepare an integration.
package struct CommitContent: Sendable, Hashable {
    package let details: CommitDetails
    /// The names in the root of its tree. Names that are not UTF-8 are repaired.
    package let rootEntries: [String]
    /// The requested file; `nil` if there is none, or if it is no regular file.
    package let file: [UInt8]?
    /// The facts that determine its kinds of project; `nil` if they were not requested.
    package var project: ProjectTree?
}
