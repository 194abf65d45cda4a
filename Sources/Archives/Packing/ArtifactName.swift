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

/// The rules for names of stored and published files.
package enum PublishedName {
    /// The names in a version's directory that are reserved for its descriptions.
    package static let reserved: Set<String> = [
        "manifest.json", "provenance.json", "SHA256SUMS", "SHA256SUMS.sig", "yanked.json",
    ]

    /// The size limit of a name in bytes: NAME_MAX of common file systems.
    package static let maximumLength = 255

    /// Whether a text is a path component that every tool accepts: 1–255 bytes, no `/` or `\`, no control character, no
    /// leading `.` or `-`. Without control characters and backslashes, `SHA256SUMS` needs no escapes.
    package static func isComponent(_ name: String) -> Bool {
        guard let first = name.utf8.first, first != UInt8(ascii: "."), first != UInt8(ascii: "-") else { return false }
        guard name.utf8.count <= maximumLength else { return false }
        return name.unicodeScalars.allSatisfy {
            $0.value >= 0x20 && !(0x7f...0x9f).contains($0.value) && $0 != "/" && $0 != "\\"
        }
    }

    /// Whether a file of this name may be published.
    package static func isPublishable(_ name: String) -> Bool { isComponent(name) && !reserved.contains(name) }
}
