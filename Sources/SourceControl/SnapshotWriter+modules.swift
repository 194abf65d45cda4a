import Basics
import CLibGit2
import Glibc
import Model

/// A submodule of a working tree that is initialized, so that its files are on the disk.
struct TreeModule {
    /// From the root of the tree that it is in.
    let path: String
    /// That the tree around it tracks.
    let commit: CommitID
    let repository: SnapshotWriter.Repository
    /// Within it.
    var modules: [TreeModule]
}

/// A tree as it was written.
struct WrittenTree {
    /// With the files of its submodules.
    var whole: git_oid
    /// As git would write it: submodules in which nothing was changed are the commits that they are of.
    var tracked: git_oid
    /// Submodules that are not initialized, from the root of the whole tree.
    var empty: [String] = []
}

/// Submodules: bots check them out, so a snapshot has their files, as they are on the disk too.
extension SnapshotWriter {
    /// Our indexes of them, each named by the digest of its path.
    private static let indexes = "modules"

    // MARK: Which there are

    /// - Parameter count: How many were found till now.
    /// - Throws: `tooLarge` above the limits that bots have.
    func modules(
        of theirs: Repository, in directory: String? = nil, depth: Int = 0, count: inout Int
    ) throws(SourceControlError) -> [TreeModule] {
        let directory = directory ?? root
        let index = try GitHandle(operation, free: git_index_free) { git_repository_index($0, theirs.pointer) }
        var found: [TreeModule] = []
        for place in 0..<git_index_entrycount(index.pointer) {
            guard let entry = git_index_get_byindex(index.pointer, place)?.pointee,
                entry.mode == GIT_FILEMODE_COMMIT.rawValue, let name = entry.path, let commit = entry.id.commitID
            else { continue }
            let path = String(cString: name)
            // Once, also where a merge left several.
            guard !found.contains(where: { $0.path == path }) else { continue }
            guard let repository = try repository(at: "\(directory)/\(path)") else { continue }
            count += 1
            guard depth < Mirrors.maximumSubmoduleDepth, count <= Mirrors.maximumSubmodules else {
                throw SourceControlError(
                    code: .tooLarge, operation: "\(operation)/\(path)",
                    message: "at most \(Mirrors.maximumSubmodules) submodules, \(Mirrors.maximumSubmoduleDepth) within "
                        + "each other, are taken")
            }
            let inner = try modules(of: repository, in: "\(directory)/\(path)", depth: depth + 1, count: &count)
            found.append(TreeModule(path: path, commit: commit, repository: repository, modules: inner))
        }
        return found
    }

    /// Nothing where none is in that directory itself, nor behind a link.
    private func repository(at path: String) throws(SourceControlError) -> Repository? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved) == path ? try open(path) : nil
    }

    /// Where the objects of all of them are.
    func objects(of modules: [TreeModule]) -> [String] {
        modules.flatMap { objects(of: $0.repository) + objects(of: $0.modules) }
    }

    // MARK: Their trees

    /// The tree around them, with them in it.
    /// - Parameter base: Without them.
    func adding(
        _ modules: [TreeModule], to base: WrittenTree, in ours: OpaquePointer
    ) throws(SourceControlError) -> WrittenTree {
        var (result, whole, tracked) = (base, [Link](), [Link]())
        for module in modules {
            let written = try write(module)
            result.empty += written.empty
            whole.append(Link(path: module.path, id: written.whole, mode: GIT_FILEMODE_TREE))
            let isClean = try tree(of: module.commit, in: module.repository.pointer) == written.tracked.hexadecimal
            tracked.append(
                isClean
                    ? Link(path: module.path, id: try git_oid(module.commit), mode: GIT_FILEMODE_COMMIT)
                    : Link(path: module.path, id: written.tracked, mode: GIT_FILEMODE_TREE))
        }
        result.whole = try adding(whole, to: base.whole, in: ours)
        result.tracked = try adding(tracked, to: base.tracked, in: ours)
        return result
    }

    /// What stands at a submodule's path.
    private struct Link {
        var path: String
        var id: git_oid
        var mode: git_filemode_t
    }

    private func adding(_ links: [Link], to base: git_oid, in ours: OpaquePointer) throws(SourceControlError) -> git_oid
    {
        guard !links.isEmpty else { return base }
        var (id, base) = (git_oid(), base)
        let tree = try GitHandle(operation, free: git_tree_free) { git_tree_lookup($0, ours, &base) }
        var updates = links.map { link in
            git_tree_update(action: GIT_TREE_UPDATE_UPSERT, id: link.id, filemode: link.mode, path: strdup(link.path))
        }
        defer { for update in updates { free(UnsafeMutablePointer(mutating: update.path)) } }
        try git(operation) { git_tree_create_updated(&id, ours, tree.pointer, updates.count, &updates) }
        return id
    }

    /// Read as the whole tree is, by rules and with an index of its own.
    private func write(_ module: TreeModule) throws(SourceControlError) -> WrittenTree {
        let path = module.path + "/"
        let writer = SnapshotWriter(
            root: "\(root)/\(module.path)", store: store, configuration: configuration,
            excluded: excluded.filter { $0.hasPrefix(path) }.map { String($0.dropFirst(path.utf8.count)) },
            interruption: interruption, place: place + path)
        try writer.writeIgnored(module.repository)
        let ours = try writer.openOurs()
        let file = try index(of: writer.place)
        let index = try GitHandle(operation, free: git_index_free) { git_index_open($0, file) }
        try git(operation) { git_repository_set_index(ours.pointer, index.pointer) }
        return try writer.writeTree(ours.pointer, index.pointer, module.repository, module.modules)
    }

    private func index(of place: String) throws(SourceControlError) -> String {
        var id = git_oid()
        try git(operation) { git_odb_hash(&id, place, place.utf8.count, GIT_OBJECT_BLOB) }
        let name = "\(Self.indexes)/\(id.hexadecimal)"
        try files(operation) { () throws(FileError) in
            let directory = try Directory(opening: store.path)
            try directory.makeDirectories(Self.indexes)
            // As `removeStaleLocks`.
            try directory.remove(name + ".lock")
        }
        return "\(store.path)/\(name)"
    }
}
