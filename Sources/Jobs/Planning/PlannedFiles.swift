import Basics
import JobProtocol
package import Model
package import SourceControl

/// The files of a commit on which a plan depends. They are read from a workspace with the commit, or from the mirror.
package protocol PlannedFiles {
    associatedtype Failure: Error

    /// Returns the names in a directory; `.` is the root. Empty if it cannot be read.
    func names(in directory: String) throws(Failure) -> [String]
    /// Returns the bytes of a regular file. `nil` if there is none, it cannot be read, or it is larger than `limit` bytes.
    func bytes(of path: String, limit: Int) throws(Failure) -> [UInt8]?
    /// Whether there may be a C source outside of hidden directories, which contain build products and files of tools.
    func mayHaveCSources() throws(Failure) -> Bool
}

/// The files of a workspace. The service checked the tree out a moment ago, so a file that cannot be read does not exist.
struct WorkspaceFiles: PlannedFiles {
    typealias Failure = Never

    /// The workspace's tree; `nil` if it cannot be opened.
    let tree: Directory?

    func names(in directory: String) -> [String] {
        (try? tree?.entries(directory).map(\.name)) ?? []
    }

    func bytes(of path: String, limit: Int) -> [UInt8]? { try? tree?.read(path, limit: limit) }

    func mayHaveCSources() -> Bool {
        struct Found: Error {}
        guard let tree else { return false }
        do {
            try tree.walk(
                limit: JobPlanner.maximumWalkedFiles,
                enters: { path in
                    let name = path.split(separator: UInt8(ascii: "/")).last
                    return name?.first != UInt8(ascii: ".")
                },
                { path, status in
                    let name = String(decoding: path, as: UTF8.self)
                    if status.kind == .file, JobPlanner.cSuffixes.contains(where: name.hasSuffix) { throw Found() }
                })
            return false
        } catch let error as FileError {
            // The service checked the tree out a moment ago, so an unreadable directory is unlikely; the analyzer will report it.
            return error.code == .tooLarge
        } catch {
            return true
        }
    }
}

/// The files of a commit in the mirror.
package struct CommittedFiles: PlannedFiles {
    /// The mirror cannot be read.
    package typealias Failure = SourceControlError

    private let tree: CommitTree

    package init(tree: CommitTree) { self.tree = tree }

    /// See `PlannedFiles.names`.
    package func names(in directory: String) throws(SourceControlError) -> [String] {
        try tree.names(in: directory) ?? []
    }

    /// See `PlannedFiles.bytes`.
    package func bytes(of path: String, limit: Int) throws(SourceControlError) -> [UInt8]? {
        try tree.file(path, limit: limit)
    }

    /// See `PlannedFiles.mayHaveCSources`.
    package func mayHaveCSources() throws(SourceControlError) -> Bool {
        try tree.hasFile(endingWith: JobPlanner.cSuffixes, limit: JobPlanner.maximumWalkedFiles)
    }
}

extension JobPlanner {
    /// The largest Makefile that is searched for its targets, and the largest other manifest that is searched for its analyzers, in bytes.
    static let maximumManifestBytes = 1 << 20
    /// The most entries of the tree that are checked for a C source.
    static let maximumWalkedFiles = 200_000
    /// The suffixes of the names of sources that clang's analyzer reads.
    static let cSuffixes = [".c", ".cc", ".cpp", ".cxx", ".m", ".mm"]
}

extension JobPlanner.Tree {
    /// Reads the facts that the plan of a configuration depends on.
    init<Files: PlannedFiles>(
        of files: Files, configuration: Recipe.Configuration, recipe: Recipe
    ) throws(Files.Failure) {
        self.init(rootEntries: try files.names(in: "."))
        let type = recipe.projectType(of: configuration)
        let place = configuration.directory.map { $0 + "/" } ?? ""
        let names = try files.names(in: configuration.directory ?? ".")
        if let marker = type?.profile.marker(in: names) {
            manifest = try files.bytes(of: place + marker, limit: JobPlanner.maximumManifestBytes)
                .map { String(decoding: $0, as: UTF8.self) }
        }
        var manifests: [[UInt8]] = []
        for name in names where PackageDependencies.isManifest(name) {
            // A manifest that is not a file, or is too large, is presumed to have dependencies.
            manifests.append(
                try files.bytes(of: place + name, limit: PackageDependencies.maximumBytes) ?? Array(".package".utf8))
        }
        hasDependencies = PackageDependencies.mayExist(inManifests: manifests)
        if type == .swiftPackage, place.isEmpty { hasCSources = try files.mayHaveCSources() }
    }
}

extension JobRunner {
    /// Returns the plan of a job. This is the one place that decides it, for an integration and for the preview before a push.
    /// - Parameters:
    ///   - files: The files of the commit.
    ///   - ref: The ref that is integrated. Its triggers determine whether products are made.
    ///   - testFilter: The filter for the tests to run; `nil` for all tests.
    ///   - pull: The pull request that the job belongs to; `nil` for a job of a branch or tag.
    package func plan<Files: PlannedFiles>(
        _ configuration: Recipe.Configuration, of recipe: Recipe, files: Files, bot: BotSpecification, ref: RefName,
        testFilter: String? = nil, pull: IntegratedPullRequest? = nil
    ) throws(Files.Failure) -> JobPlanner.Plan {
        var plan = planner.plan(
            configuration: configuration, recipe: recipe, archived: bot.archivedConfiguration(of: recipe, on: ref),
            tree: try JobPlanner.Tree(of: files, configuration: configuration, recipe: recipe),
            defaultTimeout: bot.timeout, isSandboxed: isolation.isolation == .sandbox, testFilter: testFilter)
        if let pull, !pull.isTrusted, pull.approvedBy == nil {
            // No user has reviewed what it would send and where, and it could reach services on the machine itself.
            for index in plan.steps.indices { plan.steps[index].network = .none }
        }
        return plan
    }
}

/// Determines from the text of its manifest whether a Swift package may depend on others.
///
/// A manifest is a program of the repository, which must not run outside a sandbox. But a manifest without `.package(…)` has no dependency, so
/// dependencies need not be resolved. If the text appears elsewhere, such as in a comment, that costs half a second.
enum PackageDependencies {
    /// The largest manifest that is searched, in bytes. A larger one is presumed to have dependencies.
    static let maximumBytes = 1 << 20

    /// Whether one of a package's manifests may have a dependency.
    static func mayExist(inManifests texts: [[UInt8]]) -> Bool { texts.contains(where: mayExist) }

    /// Whether a manifest may have a dependency. Blanks and backticks around a name are skipped, because the compiler ignores them, too.
    private static func mayExist(in manifest: [UInt8]) -> Bool {
        let kept = manifest.filter { ![0x20, 0x09, 0x0A, 0x0D, UInt8(ascii: "`")].contains($0) }
        let wanted = Array(".package".utf8)
        guard kept.count >= wanted.count else { return false }
        return kept.indices.dropLast(wanted.count - 1).contains { start in
            kept[start] == wanted[0] && kept[start..<start + wanted.count].elementsEqual(wanted)
        }
    }

    /// Whether a file of a package's root is a manifest: `Package.swift`, `Package@swift-6.0.swift`.
    static func isManifest(_ name: String) -> Bool {
        name == "Package.swift" || (name.hasPrefix("Package@swift-") && name.hasSuffix(".swift"))
    }
}
