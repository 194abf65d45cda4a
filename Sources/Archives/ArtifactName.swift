package import Model

/// The name of an archive we make: `PRODUCT-VERSION-source.tar.gz` or `PRODUCT-VERSION-CONFIGURATION-TRIPLE.tar.zst`.
///
/// In an integration VERSION is the commit's first twelve digits; a published version has the very same bytes under its
/// number, so digests stay equal. That is why the archive's top directory is PRODUCT alone.
package struct ArtifactName: Hashable, Sendable {
    /// What is in the archive: the source, or the products of one configuration, built for one triple.
    package enum Kind: Hashable, Sendable {
        case source
        case products(configuration: Name, triple: String)
    }

    package let product: Name
    package let kind: Kind

    /// - Returns: Nothing when the triple is not `[A-Za-z0-9][A-Za-z0-9._-]{0,63}`.
    package init?(product: Name, kind: Kind) {
        if case .products(_, let triple) = kind {
            let isClean = triple.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
            guard isClean, (1...64).contains(triple.utf8.count), PublishedName.isComponent(triple) else { return nil }
        }
        self.product = product
        self.kind = kind
    }

    /// What the archive is written as.
    package var format: ArchiveFormat {
        switch kind {
        case .source: .tarGzip
        case .products: .tarZstandard
        }
    }

    /// The name within an integration.
    package func name(of commit: CommitID) -> String { name(version: commit.abbreviated) }

    /// The name under which the same bytes are published.
    package func name(of version: SemanticVersion) -> String { name(version: version.description) }

    private func name(version: String) -> String {
        switch kind {
        case .source: "\(product)-\(version)-source.\(format.fileExtension)"
        case .products(let configuration, let triple):
            "\(product)-\(version)-\(configuration)-\(triple).\(format.fileExtension)"
        }
    }

    /// The published name of an integration's artifact: `PRODUCT-COMMIT-…` becomes `PRODUCT-VERSION-…`; any other name stays.
    package static func published(
        _ fileName: String, product: Name, commit: CommitID, version: SemanticVersion
    ) -> String {
        let prefix = "\(product)-\(commit.abbreviated)-"
        return fileName.hasPrefix(prefix) ? "\(product)-\(version)-" + fileName.dropFirst(prefix.count) : fileName
    }
}
