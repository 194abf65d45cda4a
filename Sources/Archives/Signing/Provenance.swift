package import Model

/// Where a version's files come from, as far as its manifest does not say it: what `provenance.json` is made of.
package struct Provenance: Hashable, Sendable {
    /// Something that the build took in.
    package struct Input: Hashable, Sendable, Encodable {
        /// Where it is had; `git+https://…@refs/heads/…` for a repository.
        package var uri: String
        /// By algorithm: `gitCommit`, `gitTree`, `sha256` and others of in-toto's DigestSet.
        package var digest: [String: String]
        package var name: String?
        /// What else is to be said of it, in sentences by name.
        package var annotations: [String: String]?

        package init(uri: String, digest: [String: String], name: String? = nil) {
            self.uri = uri
            self.digest = digest
            self.name = name
        }
    }

    /// What a job built with.
    package struct Toolchain: Hashable, Sendable, Codable {
        /// Such as `swift`.
        package var program: String
        /// As the job saw it.
        package var path: String
        /// As it names itself; nothing where that cannot be read without running it.
        package var version: String?
        /// Of the program's file, where there is no version.
        package var sha256: String?

        package init(program: String, path: String, version: String? = nil, sha256: String? = nil) {
            self.program = program
            self.path = path
            self.version = version
            self.sha256 = sha256
        }
    }

    /// The service's URL: who vouches for it.
    package var builder: String
    /// Of the service's program.
    package var builderVersion: String
    package var startedAt: Timestamp
    package var finishedAt: Timestamp
    /// The repository's URL.
    package var repository: String
    /// What ran, every default filled in, as canonical JSON.
    package var recipe: String
    /// The configuration whose products were archived, and what it was built with.
    package var configuration: Name?
    package var toolchain: Toolchain?
    /// The first is the source.
    package var inputs: [Input]

    package init(
        builder: String, builderVersion: String, startedAt: Timestamp, finishedAt: Timestamp, repository: String,
        recipe: String, configuration: Name?, toolchain: Toolchain?, inputs: [Input]
    ) {
        self.builder = builder
        self.builderVersion = builderVersion
        self.startedAt = startedAt
        self.finishedAt = finishedAt
        self.repository = repository
        self.recipe = recipe
        self.configuration = configuration
        self.toolchain = toolchain
        self.inputs = inputs
    }
}

/// What a version gets beside its files and manifest.
package struct Attestation: Sendable {
    package var provenance: Provenance
    /// Nothing: it is not signed.
    package var key: SigningKey?

    package init(provenance: Provenance, key: SigningKey?) {
        self.provenance = provenance
        self.key = key
    }
}
