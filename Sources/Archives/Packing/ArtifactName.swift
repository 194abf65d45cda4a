package import Model

/// The name of an archive: `PRODUCT-VERSION-source.tar.gz` or `PRODUCT-VERSION-CONFIGURATION-TRIPLE.tar.zst`.
///
/// In an integration, VERSION is the first twelve digits of the commit. A published version has the same bytes under its version number, so digests
/// stay equal. The archive's top directory is therefore only PRODUCT.
package struct ArtifactName: Hashable, Sendable {
    /// The content of the archive: the source, or the products of one configuration for one triple.
    package enum Kind: Hashable, Sendable {
        case source
        case products(configuration: Name, triple: String)
    }

    package let product: Name
    package let kind: Kind

    /// Creates a name.
    /// - Returns: `nil` if the triple is not `[A-Za-z0-9][A-Za-z0-9._-]{0,63}`.
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

    /// The file format of the archive.
    package var format: ArchiveFormat {
        switch kind {
        case .source: .tarGzip
        case .products: .tarZstandard
        }
    }

    /// Returns the name within an integration.
    package func name(of commit: CommitID) -> String { name(version: commit.abbreviated) }

    private func name(version: String) -> String {
        switch kind {
        case .source: "\(product)-\(version)-source.\(format.fileExtension)"
        case .products(let configuration, let triple):
            "\(product)-\(version)-\(configuration)-\(triple).\(format.fileExtension)"
        }
    }

    /// Returns the published name of an integration's artifact: `PRODUCT-COMMIT-…` becomes `PRODUCT-VERSION-…`. Other names are not changed.
    package static func published(
        _ fileName: String, product: Name, commit: CommitID, version: SemanticVersion
    ) -> String {
        let prefix = "\(product)-\(commit.abbreviated)-"
        return fileName.hasPrefix(prefix) ? "\(product)-\(version)-" + fileName.dropFirst(prefix.count) : fileName
    }
}
