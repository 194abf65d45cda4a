package import Model

/// A version of a product, from its reservation on.
package struct VersionRecord: Hashable, Sendable {
    /// `reserved`: the number is taken and nobody sees it yet; `published`: for ever.
    package enum State: String, Hashable, Sendable, Codable, CaseIterable { case reserved, published }

    package var product: Name
    package var version: SemanticVersion
    package var state: State
    /// Whether it is no longer offered by ranges and `latest`. Its files stay.
    package var isYanked: Bool
    /// Since when; nothing where it is not, and where that was adopted without a time.
    package var yankedAt: Timestamp?
    package var commit: CommitID
    package var ref: RefName
    /// As the manifest writes it. The integration's own row may be gone when the database was lost.
    package var integration: IntegrationID
    package var files: [Artifact]
    package var publishedAt: Timestamp?
    /// What it is called in the package registry; nothing: it is not in it.
    package var registry: PackageIdentifier?
    /// Where its commit is from; nothing for a path of this machine, or where nobody knows.
    package var repository: String?

    package init(
        product: Name, version: SemanticVersion, state: State, isYanked: Bool = false, commit: CommitID, ref: RefName,
        integration: IntegrationID, files: [Artifact] = [], publishedAt: Timestamp? = nil,
        registry: PackageIdentifier? = nil, repository: String? = nil, yankedAt: Timestamp? = nil
    ) {
        self.product = product
        self.version = version
        self.state = state
        self.isYanked = isYanked
        self.commit = commit
        self.ref = ref
        self.integration = integration
        self.files = files
        self.publishedAt = publishedAt
        self.registry = registry
        self.repository = repository
        self.yankedAt = yankedAt
    }
}
