package import Basics
package import Model

/// The published versions on the disk. A version's directory is `files/<product>/<version>/` with its files, `manifest.json`, `provenance.json`,
/// `SHA256SUMS` and `SHA256SUMS.sig`. Each product has a `yanked.json`.
///
/// A version appears completely or not at all. It is written to a staging directory, where every file and directory is synchronized. It is then
/// renamed without replacing, and the directory above is synchronized. It never changes afterwards: files have mode 0444, and other bytes for an
/// existing version are refused. Paths consist of a `Name` and a `SemanticVersion`, whose alphabets have no separator, so they cannot lead elsewhere.
/// All calls run on one queue.
package final class VersionStore: Sendable {
    let files: Directory
    let staging: Directory
    let operations: any VersionFiles
    let identifiers: any IdentifierSource
    let queue = SerialQueue(label: "versions")

    /// Opens both directories, and creates them if necessary. They must be on one file system.
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

    // MARK: Reading

    /// Returns all products that have a directory, sorted.
    package func products() async throws(ArchiveError) -> [Name] {
        try await onQueue("listing of products") { files throws(FileError) in
            try files.entries().filter { $0.kind == .directory }.compactMap { Name($0.name) }.sorted()
        }
    }

    /// Returns all versions of a product on the disk, including yanked ones, the lowest first.
    package func versions(of product: Name) async throws(ArchiveError) -> [SemanticVersion] {
        try await onQueue("listing of \(product)") { files throws(FileError) in
            try Self.versions(of: product, in: files)
        }
    }

    /// Returns the manifest of a version; `nil` if it is not published.
    /// - Throws: `corrupted` if the manifest cannot be read, or is of another version.
    package func manifest(product: Name, version: SemanticVersion) async throws(ArchiveError) -> VersionManifest? {
        try await queue.run { [files] () throws(ArchiveError) in
            try VersionJSON.manifest(product: product, version: version, in: files)
        }
    }

    static func versions(of product: Name, in files: Directory) throws(FileError) -> [SemanticVersion] {
        do throws(FileError) {
            return try files.entries(product.description).filter { $0.kind == .directory }.compactMap { entry in
                // Only names that Martlet itself writes, so that each version has only one directory.
                SemanticVersion(entry.name).flatMap { $0.description == entry.name ? $0 : nil }
            }.sorted()
        } catch  where error.code == .notFound {
            return []
        }
    }

    func onQueue<Value: Sendable>(
        _ operation: String, _ body: @escaping @Sendable (Directory) throws(FileError) -> Value
    ) async throws(ArchiveError) -> Value {
        do throws(FileError) {
            return try await queue.run { [files] () throws(FileError) in try body(files) }
        } catch {
            throw ArchiveError(operation, error)
        }
    }
}
