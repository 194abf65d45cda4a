import Basics
import FoundationEssentials
import Model

/// A bundle for a binary target of SwiftPM: a directory `NAME.artifactbundle` in a zip archive (SE-0305). It contains executables and, for Swift 6.2
/// and newer, a static C library (SE-0482).
struct ArtifactBundle {
    static let directoryEnding = ".artifactbundle"
    /// The largest number of bundles of one integration, and the largest depth at which they are searched.
    static let maximumCount = 32
    static let maximumDepth = 8

    private struct Info: Encodable {
        struct Artifact: Encodable {
            struct Variant: Encodable {
                struct Library: Encodable {
                    let headerPaths: [String]
                    let moduleMapPath: String
                }
                let path: String
                let supportedTriples: [String]
                var staticLibraryMetadata: Library?
            }
            let version: String
            let type: String
            let variants: [Variant]
        }
        let schemaVersion = "1.0"
        var artifacts: [String: Artifact] = [:]
    }

    private let name: String
    private var info = Info()
    private var files: [(path: [UInt8], size: Int64, isExecutable: Bool)] = []
    private let triple: String

    /// Creates a bundle from the products of a Swift package. It contains the executables of `bin/` with the files beside them. It also contains the
    /// library of `lib/` if that is the only one and belongs to a single C module. A library with Swift code works only with one compiler, so it is
    /// left out.
    /// - Parameter version: The version for display; SwiftPM ignores it.
    /// - Returns: `nil` if there are neither executables nor such a library.
    init?(products root: Directory, name: String, version: String, triple: String) throws {
        (self.name, self.triple) = (name, triple)
        if try root.status("bin")?.kind == .directory { try addExecutables(root, version) }
        if try root.status("lib")?.kind == .directory { try addLibrary(root, version) }
        guard !info.artifacts.isEmpty else { return nil }
    }

    private mutating func addExecutables(_ root: Directory, _ version: String) throws {
        var found: [(path: [UInt8], size: Int64, isExecutable: Bool)] = []
        try root.walk("bin", limit: ArchiveWriter.maximumEntries) { path, status in
            if status.kind == .file { found.append((path, status.size, status.isExecutable)) }
        }
        let executables = found.filter { $0.isExecutable && $0.path.count { $0 == UInt8(ascii: "/") } == 1 }
        for file in executables {
            let path = String(decoding: file.path, as: UTF8.self)
            info.artifacts[String(path.dropFirst("bin/".count))] = .init(
                version: version, type: "executable",
                variants: [.init(path: "\(triple)/\(path)", supportedTriples: [triple])])
        }
        if !executables.isEmpty { files += found }
    }

    private mutating func addLibrary(_ root: Directory, _ version: String) throws {
        let libraries = try root.entries("lib").map(\.name).filter { $0.hasSuffix(".a") }
        guard libraries.count == 1, try root.status("include")?.kind == .directory else { return }
        let modules = try root.entries("include").map(\.name)
        let interfaces = try root.status("modules") == nil ? [] : try root.entries("modules").map(\.name)
        guard modules.count == 1, let module = modules.first,
            !interfaces.contains(where: { $0.hasSuffix(".swiftmodule") }),
            info.artifacts[module] == nil
        else { return }
        let map = "include/\(module)/module.modulemap"
        guard try root.status(map)?.kind == .file else { return }
        var found: [(path: [UInt8], size: Int64, isExecutable: Bool)] = []
        let library = "lib/\(libraries[0])"
        for place in [library, "include/\(module)"] {
            if let status = try root.status(place), status.kind == .file {
                found.append((Array(place.utf8), status.size, false))
                continue
            }
            try root.walk(place, limit: ArchiveWriter.maximumEntries) { path, status in
                if status.kind == .file { found.append((path, status.size, false)) }
            }
        }
        info.artifacts[module] = .init(
            version: version, type: "staticLibrary",
            variants: [
                .init(
                    path: "\(triple)/\(library)", supportedTriples: [triple],
                    staticLibraryMetadata: .init(
                        headerPaths: ["\(triple)/include/\(module)"], moduleMapPath: "\(triple)/\(map)"))
            ])
        files += found
    }

    /// Writes the bundle to a new archive. The same products give the same bytes.
    func write(from root: Directory, to path: String, modified: Timestamp) throws(ArchiveError) {
        let operation = "packing of \(name)\(Self.directoryEnding)"
        let output = try ArchiveOutput(
            format: .zip, path: path, seconds: modified.millisecondsSinceEpoch / 1000, operation: operation)
        do {
            let top = name + Self.directoryEnding
            try output.addDirectory(Array(top.utf8))
            try output.addFile(Array("\(top)/info.json".utf8), bytes: try PublishedJSON.encode(info))
            for file in files.sorted(by: { $0.path.lexicographicallyPrecedes($1.path) }) {
                try output.addFile(
                    Array("\(top)/\(triple)/".utf8) + file.path, at: file.path, in: root, size: file.size,
                    isExecutable: file.isExecutable)
            }
            try output.close()
        } catch {
            output.abandon()
            throw ArchiveError(operation, error)
        }
    }

    // MARK: Bundles of the build

    /// Returns the directories `NAME.artifactbundle` with an `info.json` in a tree. Bundles inside another bundle are left out.
    /// - Parameter limit: The largest number of entries that are checked.
    /// - Throws: `tooLarge` as soon as more than `maximumCount` are found, because a job can make any number.
    static func made(
        beneath root: Directory, limit: Int = ArchiveWriter.maximumEntries
    ) throws -> [(name: String, path: [UInt8])] {
        var found: [(name: String, path: [UInt8])] = []
        var names: Set<String> = []
        try root.walk(
            ".", limit: limit,
            enters: { path in
                bundleName(path) == nil && path.count { $0 == UInt8(ascii: "/") } < maximumDepth
            },
            { path, status in
                guard status.kind == .directory, let name = bundleName(path),
                    try root.status(path + Array("/info.json".utf8))?.kind == .file
                else { return }
                // Names become file names. If a name occurs twice, the first path keeps it.
                guard names.insert(name).inserted else { return }
                found.append((name, path))
                guard found.count <= maximumCount else {
                    throw ArchiveError(
                        code: .tooLarge, operation: "packing of artifact bundles",
                        message: "more than \(maximumCount) directories end in \(directoryEnding); archive fewer")
                }
            })
        return found
    }

    private static func bundleName(_ path: [UInt8]) -> String? {
        let last = path.split(separator: UInt8(ascii: "/")).last ?? []
        guard let text = String(validating: last, as: UTF8.self), text.hasSuffix(directoryEnding),
            // Users paste the name into Swift code.
            PublishedName.isComponent(text), text.utf8.count <= 100, !text.contains("\"")
        else { return nil }
        let name = String(text.dropLast(directoryEnding.count))
        return name.isEmpty ? nil : name
    }
}
