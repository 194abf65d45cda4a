package import Model

/// A finding of one attempt with its fingerprint.
package struct StoredFinding: Hashable, Sendable {
    package var fingerprint: String
    package var finding: Finding

    package init(fingerprint: String, finding: Finding) {
        self.fingerprint = fingerprint
        self.finding = finding
    }
}
