package import Basics
import Glibc
package import Model

/// A packer for the artifacts of an attempt. It packs the collected tree and the source into archives.
package struct ArtifactPacker: Sendable {
    package let product: Name
    package let commit: CommitID
    package let configuration: Name
    /// The target triple, as printed by `clang -print-target-triple` or the Swift compiler: `x86_64-unknown-linux-gnu`.
    package let triple: String
    /// The commit's time, which every entry gets. The same commit and products therefore give the same bytes.
    package let modified: Timestamp
    /// Whether a Swift package's products are also packed for binary targets.
    package let isBundled: Bool
    private let queue: SerialQueue

    package init(
        product: Name, commit: CommitID, configuration: Name, triple: String, modified: Timestamp,
        isBundled: Bool = false, queue: SerialQueue
    ) {
        self.product = product
        self.commit = commit
        self.configuration = configuration
        self.triple = triple
        self.modified = modified
        self.isBundled = isBundled
        self.queue = queue
    }

    /// The result of packing.
    package struct Packed: Sendable, Hashable {
        /// The archives, sorted by name. Empty if the tree was empty and no source was given.
        package let artifacts: [Artifact]
        /// Files that were not packed, and broken links of products, each with the reason and the kind of archive.
        package let leftOut: [String]
    }

    /// Packs the archives of an attempt.
    /// - Parameters:
    ///   - tree: The directory of files that the attempt collected. If it contains only the directory `products` (of a Swift package), that directory
    ///     is the root. Without a file in it, there is no archive of products. A missing tree counts as empty.
    ///   - source: An exported tree of the commit, for the source archive; `nil` means no source archive.
    ///   - archives: The directory for the archives. Files that an interrupted call left there are removed first.
    /// - Throws: `invalidName` for the triple, and the errors of `ArchiveWriter.pack`. `archives` does not exist then.
    package func pack(
        tree: String, source: String?, into archives: String
    ) async throws(ArchiveError) -> Packed {
        try await queue.run { () throws(ArchiveError) in
            do throws(FileError) {
                try Self.clear(archives)
            } catch {
                throw ArchiveError("packing into \(archives)", error)
            }
            do {
                return try packNow(tree: tree, source: source, into: archives)
            } catch {
                // The first error is more useful than one of the removal, which the next call repeats.
                try? Self.clear(archives)
                throw ArchiveError("packing into \(archives)", error)
            }
        }
    }

    private func packNow(tree: String, source: String?, into archives: String) throws -> Packed {
        guard
            let products = ArtifactName(
                product: product, kind: .products(configuration: configuration, triple: triple)),
            let sources = ArtifactName(product: product, kind: .source)
        else {
            throw ArchiveError(
                code: .invalidName, operation: "packing of \(product)",
                message: "\(triple) is not a target triple; see what the toolchain prints")
        }
        let output = try Directory(creating: archives)
        var packed: [(artifact: Artifact, leftOut: [String])] = []
        if let root = try Self.root(of: tree) {
            packed.append(try write(root, as: products, configuration, into: output))
            packed += try writeBundles(root, into: output)
        }
        if let source {
            packed.append(try write(try Directory(opening: source), as: sources, nil, into: output))
        }
        try output.synchronize()
        return Packed(
            artifacts: packed.map(\.artifact).sorted { $0.path < $1.path }, leftOut: packed.flatMap(\.leftOut))
    }

    private func write(
        _ directory: Directory, as name: ArtifactName, _ configuration: Name?, into output: Directory
    ) throws -> (artifact: Artifact, leftOut: [String]) {
        let fileName = name.name(of: commit)
        let report = try ArchiveWriter.pack(
            directory: directory, prefix: product.description, format: name.format, to: output.path + "/" + fileName,
            modified: modified)
        let (sha256, size) = try Digest.sha256(of: fileName, in: output)
        let artifact = Artifact(configuration: configuration, path: fileName, size: ByteCount(size), sha256: sha256)
        // A repository may contain broken links; in products they are an error.
        let broken = configuration == nil ? [] : report.dangling.map { "\($0), which is not in the products" }
        let archive = configuration == nil ? "the source archive" : "the products"
        return (artifact, report.leftOut.map { "\($0); it is not in \(archive)" } + broken)
    }

    /// Packs each bundle that the build has made. If requested, also packs one of the products, unless the build has made one with its name.
    private func writeBundles(
        _ root: Directory, into output: Directory
    ) throws -> [(artifact: Artifact, leftOut: [String])] {
        var written: [(artifact: Artifact, leftOut: [String])] = []
        func add(_ name: String, _ leftOut: [String]) throws {
            let (sha256, size) = try Digest.sha256(of: name, in: output)
            written.append(
                (Artifact(configuration: configuration, path: name, size: ByteCount(size), sha256: sha256), leftOut))
        }
        func fileName(_ name: String) -> String {
            "\(product)-\(commit.abbreviated)-\(name)\(ArtifactBundle.directoryEnding).zip"
        }
        let made = try ArtifactBundle.made(beneath: root)
        for bundle in made {
            let report = try ArchiveWriter.pack(
                directory: try root.directory(bundle.path), prefix: bundle.name + ArtifactBundle.directoryEnding,
                format: .zip, to: output.path + "/" + fileName(bundle.name), modified: modified)
            try add(fileName(bundle.name), report.leftOut.map { "\($0); it is not in the bundle \(bundle.name)" })
        }
        let own = product.description
        if isBundled, !made.contains(where: { $0.name == own }),
            let bundle = try ArtifactBundle(
                products: root, name: own, version: commit.abbreviated, triple: triple)
        {
            try bundle.write(from: root, to: output.path + "/" + fileName(own), modified: modified)
            try add(fileName(own), [])
        }
        return written
    }

    /// Returns the directory to pack; `nil` if it contains no file.
    private static func root(of tree: String) throws -> Directory? {
        guard access(tree, F_OK) == 0 else { return nil }
        let collected = try Directory(opening: tree)
        let entries = try collected.entries()
        let isPackage = entries.count == 1 && entries[0].name == "products" && entries[0].kind == .directory
        let root = isPackage ? try collected.directory("products") : collected
        return try hasFile(root) ? root : nil
    }

    private static func hasFile(_ root: Directory) throws -> Bool {
        var count = 0
        try root.walk(".", limit: ArchiveWriter.maximumEntries) { _, status in
            if status.kind == .file { count += 1 }
        }
        return count > 0
    }

    private static func clear(_ path: String) throws(FileError) {
        let slash = path.lastIndex(of: "/") ?? path.startIndex
        let above = try Directory(creating: slash == path.startIndex ? "/" : String(path[..<slash]))
        try above.remove(String(path[path.index(after: slash)...]))
    }
}
