package import Model

/// A file to publish.
package struct StagedFile: Sendable, Hashable {
    /// Where it is, a path of the operator's own.
    package let source: String
    /// Its published name and what it must hold.
    package let artifact: Artifact

    package init(source: String, artifact: Artifact) {
        self.source = source
        self.artifact = artifact
    }
}

/// A version that lies beside, whole and on the disk, and that nobody sees yet.
package struct StagedVersion: Sendable, Hashable {
    package let manifest: VersionManifest
    /// Its directory's name in the staging directory.
    package let directory: String
}

/// How publishing ended.
package enum PublishOutcome: Sendable, Hashable {
    case published
    /// The version was there with the very same files; its manifest is the one given.
    case already(VersionManifest)
}

/// A version that is not to be used any more, but stays.
package struct Yanking: Sendable, Hashable, Codable {
    package let reason: String
    package let at: Timestamp

    package init(reason: String, at: Timestamp) {
        self.reason = reason
        self.at = at
    }
}
