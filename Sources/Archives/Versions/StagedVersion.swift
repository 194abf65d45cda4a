package import Model

/// A file that is to be published.
package struct StagedFile: Sendable, Hashable {
    /// The path of the file, which the operator chose.
    package let source: String
    /// The published name, and the expected size and digest.
    package let artifact: Artifact

    package init(source: String, artifact: Artifact) {
        self.source = source
        self.artifact = artifact
    }
}

/// A version that is completely on the disk, but not visible yet.
package struct StagedVersion: Sendable, Hashable {
    package let manifest: VersionManifest
    /// The name of its directory in the staging directory.
    package let directory: String
}

/// The result of publishing.
package enum PublishOutcome: Sendable, Hashable {
    case published
    /// The version already existed with the same files and has the given manifest.
    case already(VersionManifest)
}

/// The record that a version is yanked: it should no longer be used, but is kept.
package struct Yanking: Sendable, Hashable, Codable {
    package let reason: String
    package let at: Timestamp

    package init(reason: String, at: Timestamp) {
        self.reason = reason
        self.at = at
    }
}
