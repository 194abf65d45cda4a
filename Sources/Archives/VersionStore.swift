package import Basics
package import Model

/// The published versions on disk: `files/<product>/<version>/{<file>…, manifest.json, provenance.json, SHA256SUMS,
/// SHA256SUMS.sig}` and a `yanked.json` a product.
///
/// A version appears whole or not at all: it is staged beside, every file and directory synchronized, then renamed without
/// replacing, and the directory above synchronized. It never changes afterwards: files have mode 0444, and other bytes for a
/// version that exists are refused. Paths are made of a `Name` and a `SemanticVersion`, whose alphabets have no separator, so
/// none leads elsewhere. All calls run on one lane.
package final class VersionStore: Sendable {
    let files: Directory
    let staging: Directory
    let operations: any VersionFiles
    let identifiers: any IdentifierSource
    let lane = BlockingLane(label: "versions")

    /// Opens the two directories, or makes them. They must lie on one file system.
    /// - Throws: `file`.
    package init(
        files: String, staging: String, operations: any VersionFiles = DiskVersionFiles(),
        identifiers: any IdentifierSource = RandomIdentifiers()
    ) throws(ArchiveError) {
        do throws(FileError) {
            self.files = try Directory(creating: files, readsSecondNames: true)
            self.staging = try Directory(creating: staging)
        } catch {
            throw ArchiveError("opening of the published versions", error)
        }
        self.operations = operations
        self.identifiers = identifiers
    }

    /// Where a version's files are, for a file server.
    package func path(product: Name, version: SemanticVersion) -> String { "\(files.path)/\(product)/\(version)" }

    // MARK: Reading

    /// All products that have a directory, sorted.
    package func products() async throws(ArchiveError) -> [Name] {
        try await onLane("listing of products") { files throws(FileError) in
            try files.entries().filter { $0.kind == .directory }.compactMap { Name($0.name) }.sorted()
        }
    }

    /// All versions of a product that are on disk, yanked ones too, the lowest first.
    package func versions(of product: Name) async throws(ArchiveError) -> [SemanticVersion] {
        try await onLane("listing of \(product)") { files throws(FileError) in
            try Self.versions(of: product, in: files)
        }
    }

    /// The version that a range names: `latest` and ranges pass yanked versions over, an exact version is found even then.
    package func resolve(_ range: VersionRange, product: Name) async throws(ArchiveError) -> SemanticVersion? {
        let yanked = try await yanked(product: product)
        let versions = try await versions(of: product)
        if case .exactly = range { return range.highest(of: versions) }
        return range.highest(of: versions.filter { yanked[$0] == nil })
    }

    /// What a version says of itself; nothing when it is not published.
    /// - Throws: `corrupted` when its manifest cannot be read or names another version.
    package func manifest(product: Name, version: SemanticVersion) async throws(ArchiveError) -> VersionManifest? {
        try await lane.run { [files] () throws(ArchiveError) in
            try VersionJSON.manifest(product: product, version: version, in: files)
        }
    }

    static func versions(of product: Name, in files: Directory) throws(FileError) -> [SemanticVersion] {
        do throws(FileError) {
            return try files.entries(product.description).filter { $0.kind == .directory }.compactMap { entry in
                // Only what we would write ourselves: one directory for one version.
                SemanticVersion(entry.name).flatMap { $0.description == entry.name ? $0 : nil }
            }.sorted()
        } catch  where error.code == .notFound {
            return []
        }
    }

    func onLane<Value: Sendable>(
        _ operation: String, _ body: @escaping @Sendable (Directory) throws(FileError) -> Value
    ) async throws(ArchiveError) -> Value {
        do throws(FileError) {
            return try await lane.run { [files] () throws(FileError) in try body(files) }
        } catch {
            throw ArchiveError(operation, error)
        }
    }
}
