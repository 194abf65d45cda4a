import Basics
import JobProtocol
import Model
import SourceControl

/// A commit's files, as far as a plan depends on them: of a workspace into which the commit was checked out, or of the mirror.
protocol PlannedFiles {
    associatedtype Failure: Error

    /// The names in a directory, of which `.` is the root; empty if it cannot be read.
    func names(in directory: String) throws(Failure) -> [String]
    /// The bytes of a regular file; `nil` if there is none, it cannot be read, or it is larger than `limit`.
    func bytes(of path: String, limit: Int) throws(Failure) -> [UInt8]?
    /// Whether a source in C may lie anywhere but in hidden directories, where build products and tools' files are.
    func mayHaveCSources() throws(Failure) -> Bool
}

/// The files of a workspace. The tree was checked out by us a moment ago, so what cannot be read is not there.
struct WorkspaceFiles: PlannedFiles {
    typealias Failure = Never

    /// `nil`: it cannot be opened.
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
            // What cannot be read was checked out by us a moment ago; the analyzer will say so.
            return error.code == .tooLarge
        } catch {
            return true
        }
    }
}

/// The files of a commit in the mirror.
struct CommittedFiles: PlannedFiles {
    typealias Failure = SourceControlError

    let tree: CommitTree

    func names(in directory: String) throws(SourceControlError) -> [String] { try tree.names(in: directory) ?? [] }

    func bytes(of path: String, limit: Int) throws(SourceControlError) -> [UInt8]? {
        try tree.file(path, limit: limit)
    }

    func mayHaveCSources() throws(SourceControlError) -> Bool {
        try tree.hasFile(endingWith: JobPlanner.cSuffixes, limit: JobPlanner.maximumWalkedFiles)
    }
}

extension JobPlanner {
    /// A larger Makefile is not searched for its targets, nor another manifest for its analyzers. In bytes.
    static let maximumManifestBytes = 1 << 20
    /// How many entries of the tree are looked at for a source in C.
    static let maximumWalkedFiles = 200_000
    /// The ends of names of sources that clang's analyzer reads.
    static let cSuffixes = [".c", ".cc", ".cpp", ".cxx", ".m", ".mm"]
}

extension JobPlanner.Tree {
    /// Reads what the plan of a configuration depends on.
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
            // A manifest that is no file, or is too large, is presumed to have some.
            manifests.append(
                try files.bytes(of: place + name, limit: PackageDependencies.maximumBytes) ?? Array(".package".utf8))
        }
        hasDependencies = PackageDependencies.mayExist(inManifests: manifests)
        if type == .swiftPackage, place.isEmpty { hasCSources = try files.mayHaveCSources() }
    }
}

extension JobRunner {
    /// What a job would run: the one place that decides it, for an integration and for what is shown before a push.
    /// - Parameters:
    ///   - files: The commit's.
    ///   - ref: The ref that is integrated, whose triggers decide whether products are made.
    ///   - testFilter: Which tests run; `nil`: all.
    ///   - pull: The pull request whose job it is; `nil`: a branch's or tag's.
    func plan<Files: PlannedFiles>(
        _ configuration: Recipe.Configuration, of recipe: Recipe, files: Files, bot: BotSpecification, ref: RefName,
        testFilter: String? = nil, pull: IntegratedPullRequest? = nil
    ) throws(Files.Failure) -> JobPlanner.Plan {
        var plan = planner.plan(
            configuration: configuration, recipe: recipe, archived: bot.archivedConfiguration(of: recipe, on: ref),
            tree: try JobPlanner.Tree(of: files, configuration: configuration, recipe: recipe),
            defaultTimeout: bot.timeout, isFenced: isolation.isolation == .sandbox, testFilter: testFilter)
        if let pull, !pull.isTrusted, pull.approvedBy == nil {
            // Nobody has reviewed what it would send and where, and it could reach the machine's own services.
            for index in plan.steps.indices { plan.steps[index].network = .none }
        }
        return plan
    }
}
