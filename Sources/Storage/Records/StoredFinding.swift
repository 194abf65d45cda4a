package import Model

/// A finding of one attempt with its fingerprint.
package struct StoredFinding: Hashable, Sendable {
    package var fingerprint: String
    /// See `Issue.content`.
    package var content: String
    package var finding: Finding

    package init(fingerprint: String, content: String, finding: Finding) {
        self.fingerprint = fingerprint
        self.content = content
        self.finding = finding
    }
}
