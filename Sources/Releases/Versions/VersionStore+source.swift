package import Archives
import Basics
package import Model

extension VersionStore {
    /// Returns a new path for files that are made before they can be staged. It is on the same file system, and `clearStaging` removes it.
    package func scratch() -> String { staging.path + "/made-\(identifiers.next())" }

    /// Packs an exported tree for the package registry, together with the manifests in its root. The archive is a zip file with one top directory, as
    /// `swift package archive-source` makes it (SE-0292).
    /// - Parameters:
    ///   - tree: An exported tree of the commit.
    ///   - top: The name of the top directory.
    ///   - fileName: The name of the archive, which is made beside the tree.
    ///   - modified: The commit's time, which every entry gets.
    /// - Returns: The archive followed by the manifests; and the entries that the archive leaves out, with reasons, such as links that lead out of
    ///   the tree.
    /// - Throws: `corrupted` if the root has no `Package.swift`, and the errors of `ArchiveWriter.pack`.
    package func packSource(
        tree: String, top: String, fileName: String, modified: Timestamp
    ) async throws(ArchiveError) -> (files: [StagedFile], leftOut: [String]) {
        try await queue.run { () throws(ArchiveError) in
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

    /// Removes files that were made in a `scratch()`. Does not fail if they do not exist.
    package func removeScratch(_ path: String) async throws(ArchiveError) {
        try await queue.run { [staging] () throws(ArchiveError) in
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
        do throws(FileError) {
            let (sha256, size) = try Digest.sha256(ofFile: path)
            return StagedFile(
                source: path, artifact: Artifact(configuration: nil, path: name, size: ByteCount(size), sha256: sha256))
        } catch {
            throw ArchiveError("digest of \(path)", error)
        }
    }
}
