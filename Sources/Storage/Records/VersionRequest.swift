package import Model

/// The wish to publish a commit as a version.
package struct VersionRequest: Hashable, Sendable {
    /// Where the number comes from.
    package enum Source: Hashable, Sendable {
        /// The next patch of a line: `release/1.4` asks for (1, 4).
        ///
        /// `newest` is the newest published version of the branch for which the caller asked whether `commit` is an
        /// ancestor (`Store.newestPublished`), and `isAncestor` what it found. When another version was published
        /// since, nothing is reserved and the caller asks again.
        case branch(major: VersionNumber, minor: VersionNumber, newest: SemanticVersion?, isAncestor: Bool)
        /// A version that a tag, a file of the commit or a command says.
        case exactly(SemanticVersion)
    }

    package var product: Name
    package var integration: IntegrationID
    package var commit: CommitID
    package var ref: RefName
    package var source: Source
    /// The versions whose directories lie in the file server's tree: a number is never given twice, even when the
    /// database was lost.
    package var onDisk: [SemanticVersion]
    /// What the version is to be called in the package registry; nothing: it is not to be in it.
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
