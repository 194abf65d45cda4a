package import Archives
import Basics
import Model

extension VersionStore {
    /// Writes the complete version to the staging directory, checked and synchronized. This is the second step of publishing.
    ///
    /// Every file is read back after copying, and compared with its artifact's size and digest.
    /// - Parameters:
    ///   - manifest: The manifest. Its `files` are the artifacts of `files`, under their published names.
    ///   - attestation: The contents of `provenance.json`, and the key of both signatures; `nil` if the version has neither.
    /// - Throws: `duplicateName` and `invalidName` before any file is written; `corrupted` if a file differs from its artifact; `file`. Written files
    ///   are removed then.
    package func stage(
        _ manifest: VersionManifest, files: [StagedFile], attestation: Attestation? = nil
    ) async throws(ArchiveError) -> StagedVersion {
        let operation = "staging of \(manifest.product) \(manifest.version)"
        try Self.checkNames(files.map(\.artifact.path), operation: operation)
        guard Set(files.map(\.artifact)) == Set(manifest.files) else {
            throw ArchiveError(
                code: .corrupted, operation: operation, message: "the manifest lists other files than are published")
        }
        let staged = StagedVersion(
            manifest: manifest, directory: "\(manifest.product)-\(manifest.version)-\(identifiers.next())")
        return try await queue.run { [operations, staging] () throws(ArchiveError) in
            do {
                try Self.write(staged, files, attestation, into: staging, operations)
                return staged
            } catch {
                // The first error is more useful. `clearStaging` removes what is left.
                try? operations.remove(staged.directory, in: staging)
                throw ArchiveError(operation, error)
            }
        }
    }

    /// Renames the staged version to its final place, and writes that to the disk. This is the third step of publishing.
    /// - Throws: `exists` if the version exists with other files; it is not changed. `file`: the version is then either missing or complete. The
    ///   staged directory is removed in all cases but the last.
    package func publish(_ staged: StagedVersion) async throws(ArchiveError) -> PublishOutcome {
        try await queue.run { [operations, staging, files] () throws(ArchiveError) in
            let (product, version) = (staged.manifest.product, staged.manifest.version)
            let operation = "publishing of \(product) \(version)"
            do {
                // Not readable for others until the product is known to be public.
                try operations.makeDirectory(product.description, mode: 0o700, in: files)
                try operations.synchronize(files)
                let directory = try files.directory(product.description)
                do throws(FileError) {
                    try operations.move(staged.directory, in: staging, to: directory, version.description)
                } catch {
                    guard error.code == .exists || error.code == .notEmpty else { throw error }
                    return try Self.settle(staged, in: files, directory, operations, staging)
                }
                try operations.synchronize(directory)
                try operations.synchronize(staging)
                return .published
            } catch {
                throw ArchiveError(operation, error)
            }
        }
    }

    /// Removes all staged versions. Call it when the daemon starts and no version is being published: they belong to interrupted runs.
    package func clearStaging() async throws(ArchiveError) {
        try await queue.run { [staging] () throws(ArchiveError) in
            do throws(FileError) {
                try staging.removeContents()
            } catch {
                throw ArchiveError("clearing of staging", error)
            }
        }
    }

    /// Checks that files with these names can be published together. Callers use it before they reserve a version.
    /// - Throws: `duplicateName` or `invalidName`, with the name in the message.
    package static func checkNames(_ names: [String], operation: String) throws(ArchiveError) {
        var seen: Set<String> = []
        for name in names {
            guard PublishedName.isPublishable(name) else {
                throw ArchiveError(
                    code: .invalidName, operation: operation,
                    message: PublishedName.reserved.contains(name)
                        ? "\(name) is the name of a file that every version has; give the artifact another"
                        : "\"\(name.prefix(300))\" cannot be a published file's name: one path component without control "
                            + "characters, backslash and leading . or -")
            }
            guard seen.insert(name).inserted else {
                throw ArchiveError(
                    code: .duplicateName, operation: operation,
                    message: "two files are called \(name); give one another name, or archive one configuration only")
            }
        }
    }

    // MARK: Steps

    private static func write(
        _ staged: StagedVersion, _ files: [StagedFile], _ attestation: Attestation?, into staging: Directory,
        _ operations: any VersionFiles
    ) throws {
        try operations.makeDirectory(staged.directory, mode: 0o755, in: staging)
        let directory = try staging.directory(staged.directory)
        var digests: [String: String] = [:]
        for file in files {
            let artifact = file.artifact
            try operations.copy(file.source, to: directory, artifact.path)
            let (sha256, size) = try Digest.sha256(of: artifact.path, in: directory)
            guard sha256 == artifact.sha256, size == artifact.size.bytes else {
                throw ArchiveError(
                    code: .corrupted, operation: "staging of \(staged.manifest.product) \(staged.manifest.version)",
                    message:
                        "\(artifact.path) has \(size) bytes and the digest \(sha256), but \(artifact.size.bytes) bytes "
                        + "and \(artifact.sha256) were archived; rerun the integration, and look at the disk")
            }
            digests[artifact.path] = sha256
        }
        let manifest = try PublishedJSON.encode(staged.manifest)
        digests["manifest.json"] = Digest.sha256(of: manifest)
        try operations.write(manifest, to: directory, "manifest.json")
        if let attestation {
            let statement = try PublishedJSON.encode(
                Statement(attestation.provenance, staged.manifest, digests: digests), isPretty: false)
            let provenance = try PublishedJSON.encode(Envelope(statement, signedBy: attestation.key))
            digests["provenance.json"] = Digest.sha256(of: provenance)
            try operations.write(provenance, to: directory, "provenance.json")
        }
        let sums = Checksums(digests).bytes
        try operations.write(sums, to: directory, "SHA256SUMS")
        if let key = attestation?.key {
            let signature = try SSHSignature(of: sums, by: key).armored
            try operations.write(Array(signature.utf8), to: directory, "SHA256SUMS.sig")
        }
        try operations.synchronizeTree(staged.directory, in: staging)
    }

    /// Ends publishing if the version already exists: the same files are a success, others an error.
    private static func settle(
        _ staged: StagedVersion, in files: Directory, _ directory: Directory, _ operations: any VersionFiles,
        _ staging: Directory
    ) throws -> PublishOutcome {
        let (product, version) = (staged.manifest.product, staged.manifest.version)
        let existing = try VersionJSON.manifest(product: product, version: version, in: files)
        try operations.remove(staged.directory, in: staging)
        guard let existing, existing.hasSameFiles(as: staged.manifest) else {
            let by = existing.map { " by \($0.integration) from \($0.commit.abbreviated)" } ?? ""
            throw ArchiveError(
                code: .exists, operation: "publishing of \(product) \(version)",
                message: "it was published\(by) with other bytes, and a published version never changes; "
                    + "publish under another version")
        }
        // The process that renamed it may have been killed before this.
        try operations.synchronize(directory)
        return .already(existing)
    }
}
