package import Model

/// A request to publish a commit as a version.
package struct VersionRequest: Hashable, Sendable {
    /// The source of the version number.
    package enum Source: Hashable, Sendable {
        /// The next patch of a release line: `release/1.4` requests (1, 4).
        ///
        /// `newest` is the branch's newest published version (`Store.newestPublished`). `isAncestor` states whether `commit` is an ancestor of that
        /// version's commit. If another version has been published since, no number is reserved and the caller must check again.
        case branch(major: VersionNumber, minor: VersionNumber, newest: SemanticVersion?, isAncestor: Bool)
        /// A version stated by a tag, a file of the commit or a command.
        case exactly(SemanticVersion)
    }

    package var product: Name
    package var integration: IntegrationID
    package var commit: CommitID
    package var ref: RefName
    package var source: Source
    /// The versions with directories in the file server's tree. A number is never assigned twice, even if the database was lost.
    package var onDisk: [SemanticVersion]
    /// The requested name of the version in the package registry; `nil` if it is not to be in the registry.
    package var registry: PackageIdentifier?

    package init(
        product: Name, integration: IntegrationID, commit: CommitID, ref: RefName, source: Source,
        onDisk: [SemanticVersion], registry: PackageIdentifier? = nil
    ) {
        self.product = product
        self.integration = integration
        self.commit = commit
        self.ref = ref
        self.source = source
        self.onDisk = onDisk
        self.registry = registry
    }
}
