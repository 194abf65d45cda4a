package import Model

/// A finding of one attempt with its fingerprint.
package struct StoredFinding: Hashable, Sendable {
    package var fingerprint: String
    /// See `Issue.content`.
    package var content: String
    package var finding: Finding
    /// The kind of step that found it: where that did not look, it is not resolved. Nothing where an older version stored it, and of
    /// what no step found.
    package var step: JobStep?

    package init(fingerprint: String, content: String, finding: Finding, step: JobStep? = nil) {
        self.fingerprint = fingerprint
        self.content = content
        self.finding = finding
        self.step = step
    }
}
