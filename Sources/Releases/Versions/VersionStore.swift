package import Archives
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

extension VersionStore {
    /// Adds a key to the file server's `ALLOWED_SIGNERS`, unless it is there. Keys of earlier versions stay, so that those can be verified for ever.
    /// The operator removes a key that is no longer trusted.
    /// - Parameter principal: The owner of the key: the service's URL.
    /// - Throws: `signature` if the file cannot be parsed; it is not changed then. `file`.
    package func allow(_ key: SignerKey, principal: String) async throws(ArchiveError) {
        let operation = "writing of \(AllowedSigners.fileName)"
        try await queue.run { [files] () throws(ArchiveError) in
            do {
                let signer = AllowedSigners.Signer(principal: principal, key: key)
                guard try !Self.readSigners(files).signers.contains(signer) else { return }
                var bytes = try Self.readSignersFile(files)
                if let last = bytes.last, last != UInt8(ascii: "\n") { bytes.append(UInt8(ascii: "\n")) }
                bytes += Array((signer.line + "\n").utf8)
                try AtomicFile.write(bytes, to: "\(files.path)/\(AllowedSigners.fileName)")
            } catch {
                throw ArchiveError(operation, error)
            }
        }
    }

    /// Returns whether a text is a private key whose public half may have signed this service's versions. If that cannot be determined, returns
    /// `true`. Blocks.
    package func isSigningKey(_ text: String) -> Bool {
        guard let key = try? SigningKey(openSSH: text + "\n") else { return false }
        guard let known = try? Self.readSigners(files) else { return true }
        return known.signers.contains { $0.key == key.publicKey }
    }

    private static func readSigners(_ files: Directory) throws -> AllowedSigners {
        try AllowedSigners(
            String(decoding: try readSignersFile(files), as: UTF8.self), name: AllowedSigners.fileName)
    }

    private static func readSignersFile(_ files: Directory) throws -> [UInt8] {
        guard try files.status(AllowedSigners.fileName) != nil else { return [] }
        return try files.read(AllowedSigners.fileName, limit: AllowedSigners.maximumSize)
    }
}

/// A file that is to be published.
package struct StagedFile: Sendable, Hashable {
    /// The path of the file, which the operator chose.
    package let source: String
    /// The published name, and the expected size and digest.
    package let artifact: Artifact

    package init(source: String, artifact: Artifact) {
        self.source = source
        self.artifact = artifact
    }
}

/// A version that is completely on the disk, but not visible yet.
package struct StagedVersion: Sendable, Hashable {
    package let manifest: VersionManifest
    /// The name of its directory in the staging directory.
    package let directory: String
}

/// The result of publishing.
package enum PublishOutcome: Sendable, Hashable {
    case published
    /// The version already existed with the same files and has the given manifest.
    case already(VersionManifest)
}

/// The record that a version is yanked: it should no longer be used, but is kept.
package struct Yanking: Sendable, Hashable, Codable {
    package let reason: String
    package let at: Timestamp

    package init(reason: String, at: Timestamp) {
        self.reason = reason
        self.at = at
    }
}
