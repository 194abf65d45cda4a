package import Model

/// The answer to a version request.
package enum Reservation: Hashable, Sendable {
    /// The number is reserved for this integration, now and when it requests it again.
    case reserved(SemanticVersion)
    /// The commit is published already under this version: a success.
    case already(SemanticVersion)
    /// The commit is an ancestor of the commit of this version of the branch, so it gets no version.
    case superseded(by: SemanticVersion)
    /// The branch's newest published version differs from the one that the caller checked: check again for an ancestor.
    case newestChanged(to: SemanticVersion?)
    /// The version belongs to another commit, or a running integration has reserved it; the sentence states which.
    case conflict(String)
}
