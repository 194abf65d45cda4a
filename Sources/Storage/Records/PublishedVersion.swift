package import Model

/// What the manifest of a version says that lies in its place: its row says just the same, whoever asked for the number, and whenever.
package struct PublishedVersion: Hashable, Sendable {
    package var product: Name
    package var version: SemanticVersion
    /// The one that made it. Another that ran since may have reserved the number anew.
    package var integration: IntegrationID
    package var files: [Artifact]
    package var publishedAt: Timestamp
    /// What it is called in the package registry; nothing: it is not in it.
    package var registry: PackageIdentifier?
    /// Where its commit is from, as everybody may know it; nothing for a path of this machine.
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
