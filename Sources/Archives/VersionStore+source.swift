import Basics
package import Model

extension VersionStore {
    /// A place beside, for what is made before it can be staged: on the same file system, and cleared by `clearStaging`.
    package func scratch() -> String { staging.path + "/made-\(identifiers.next())" }

    /// Packs an exported tree as the package registry offers it (SE-0292: a zip archive with one directory at its top, as `swift package
    /// archive-source` makes it), and takes the manifests of its root beside it.
    /// - Parameters:
    ///   - tree: An exported tree of the commit.
    ///   - fileName: Of the archive, which is made beside the tree.
    ///   - modified: The commit's time; every entry gets it.
    /// - Returns: The archive, then the manifests; and what of the tree the archive does not have, with the reason: links that lead out.
    /// - Throws: `corrupted` for a root without `Package.swift`, and what `ArchiveWriter.pack` throws.
    package func packSource(
        tree: String, top: String, fileName: String, modified: Timestamp
    ) async throws(ArchiveError) -> (files: [StagedFile], leftOut: [String]) {
        try await lane.run { () throws(ArchiveError) in
            do {
                let root = try Directory(opening: tree)
                let archive = tree + ".zip"
                let report = try ArchiveWriter.pack(
                    directory: root, prefix: top, format: .zip, to: archive, modified: modified)
                var files = [try Self.file(at: archive, named: fileName)]
                let names = try root.entries().filter { $0.kind == .file }.compactMap { ManifestName($0.name) }.sorted()
                guard names.first?.swift == nil, !names.isEmpty else {
                    throw ArchiveError(
                        code: .corrupted, operation: "packing of \(fileName)", message: "its root has no Package.swift")
                }
                for name in names {
                    files.append(try Self.file(at: "\(tree)/\(name)", named: name.description))
                }
                return (files, report.leftOut)
            } catch {
                throw ArchiveError("packing of \(fileName)", error)
            }
        }
    }

    /// Removes what was made in a `scratch()`; what is absent is fine.
    package func removeScratch(_ path: String) async throws(ArchiveError) {
        try await lane.run { [staging] () throws(ArchiveError) in
            guard let name = path.split(separator: "/").last else { return }
            do throws(FileError) {
                try staging.remove(String(name))
                try staging.remove(String(name) + ".zip")
            } catch {
                throw ArchiveError("clearing of staging", error)
            }
        }
    }

    private static func file(at path: String, named name: String) throws(ArchiveError) -> StagedFile {
        let (sha256, size) = try Digest.sha256(ofFile: path)
        return StagedFile(
            source: path, artifact: Artifact(configuration: nil, path: name, size: ByteCount(size), sha256: sha256))
    }
}
