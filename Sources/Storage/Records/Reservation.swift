package import Model

/// The answer to a version request.
package enum Reservation: Hashable, Sendable {
    /// The number is this integration's, now and when it asks again.
    case reserved(SemanticVersion)
    /// The commit is published already under this version: a success.
    case already(SemanticVersion)
    /// The commit is an ancestor of what this version of the branch was made of: no version.
    case superseded(by: SemanticVersion)
    /// The branch's newest published version is another than the caller asked about: ask the ancestor question again.
    case newestChanged(to: SemanticVersion?)
    /// The version is another commit's, or another integration that still runs holds it; the sentence says which.
    case conflict(String)
}
