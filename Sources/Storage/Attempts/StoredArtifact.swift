package import Model

/// An artifact with the attempt that archived it.
package struct StoredArtifact: Hashable, Sendable {
    package var attempt: AttemptID
    package var artifact: Artifact

    package init(attempt: AttemptID, artifact: Artifact) {
        self.attempt = attempt
        self.artifact = artifact
    }
}
