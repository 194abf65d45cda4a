package import Model

/// The contents of a published version's manifest. Its row holds the same values, independent of the request and its time.
package struct PublishedVersion: Hashable, Sendable {
    package var product: Name
    package var version: SemanticVersion
    /// The integration that made the version. Another integration that ran later may hold a new reservation of the number.
    package var integration: IntegrationID
    package var files: [Artifact]
    package var publishedAt: Timestamp
    /// The version's name in the package registry; `nil` if it is not in the registry.
    package var registry: PackageIdentifier?
    /// The public address of the commit's repository; `nil` for a path on this machine.
    package var repository: String?

    package init(
        product: Name, version: SemanticVersion, integration: IntegrationID, files: [Artifact], publishedAt: Timestamp,
        registry: PackageIdentifier? = nil, repository: String? = nil
    ) {
        self.product = product
        self.version = version
        self.integration = integration
        self.files = files
        self.publishedAt = publishedAt
        self.registry = registry
        self.repository = repository
    }
}
