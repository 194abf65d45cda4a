package import Model

/// A finding of one attempt with its fingerprint.
package struct StoredFinding: Hashable, Sendable {
    package var fingerprint: String
    /// See `Issue.content`.
    package var content: String
    package var finding: Finding
    /// The kind of step that found it. The finding is not resolved by a run in which that step did not look. `nil` if an older version stored it, and
    /// for findings of no step.
    package var step: JobStep?

    package init(fingerprint: String, content: String, finding: Finding, step: JobStep? = nil) {
        self.fingerprint = fingerprint
        self.content = content
        self.finding = finding
        self.step = step
    }
}
