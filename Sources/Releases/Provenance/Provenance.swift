package import Model

/// The origin of a version's files, in addition to its manifest. It is the source of `provenance.json`.
package struct Provenance: Hashable, Sendable {
    /// An input of the build.
    package struct Input: Hashable, Sendable, Encodable {
        /// The location; for a repository `git+https://…@refs/heads/…`.
        package var uri: String
        /// The digests, keyed by algorithm: `gitCommit`, `gitTree`, `sha256` and others of in-toto's DigestSet.
        package var digest: [String: String]
        package var name: String?
        /// Further facts about the input, as sentences keyed by name.
        package var annotations: [String: String]?

        package init(uri: String, digest: [String: String], name: String? = nil) {
            self.uri = uri
            self.digest = digest
            self.name = name
        }
    }

    /// The toolchain that a job used.
    package struct Toolchain: Hashable, Sendable, Codable {
        /// The name of the program, such as `swift`.
        package var program: String
        /// The program's path in the job.
        package var path: String
        /// The version that the program states; `nil` if it cannot be read without running the program.
        package var version: String?
        /// The digest of the program's file, if there is no version.
        package var sha256: String?

        package init(program: String, path: String, version: String? = nil, sha256: String? = nil) {
            self.program = program
            self.path = path
            self.version = version
            self.sha256 = sha256
        }
    }

    /// The URL of the service, which identifies it as the builder.
    package var builder: String
    /// The version of the service's program.
    package var builderVersion: String
    package var startedAt: Timestamp
    package var finishedAt: Timestamp
    /// The URL of the repository.
    package var repository: String
    /// The recipe that ran, with every default filled in, as canonical JSON.
    package var recipe: String
    /// The configuration whose products were archived, and its toolchain.
    package var configuration: Name?
    package var toolchain: Toolchain?
    /// The inputs, of which the first is the source.
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

/// The data for a version's provenance and signatures.
package struct Attestation: Sendable {
    package var provenance: Provenance
    /// The key; `nil` if the version is not signed.
    package var key: SigningKey?

    package init(provenance: Provenance, key: SigningKey?) {
        self.provenance = provenance
        self.key = key
    }
}
