package import Model

/// A version of a product, from its reservation on.
package struct VersionRecord: Hashable, Sendable {
    /// `reserved`: the number is taken but the version is not visible; `published`: final.
    package enum State: String, Hashable, Sendable, Codable, CaseIterable { case reserved, published }

    package var product: Name
    package var version: SemanticVersion
    package var state: State
    /// Whether it is no longer offered by ranges and `latest`. Its files stay.
    package var isYanked: Bool
    /// When it was yanked; `nil` if it is not yanked, and if a yanked version was adopted without a time.
    package var yankedAt: Timestamp?
    package var commit: CommitID
    package var ref: RefName
    /// The integration as the manifest names it. Its row may be missing after the database was lost.
    package var integration: IntegrationID
    package var files: [Artifact]
    package var publishedAt: Timestamp?
    /// The version's name in the package registry; `nil` if it is not in the registry.
    package var registry: PackageIdentifier?
    /// The repository of its commit; `nil` for a path on this machine, and if it is unknown.
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
