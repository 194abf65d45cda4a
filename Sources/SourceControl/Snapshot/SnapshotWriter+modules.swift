import Basics
import CLibGit2
import Glibc
import Model

/// An initialized submodule of a working tree, whose files are on the disk.
struct TreeModule {
    /// The path relative to the root of the tree that contains it.
    let path: String
    /// The commit that the containing tree tracks.
    let commit: CommitID
    let repository: TreeRepository
    /// The submodules within it.
    var modules: [TreeModule]
}

/// A tree that was written.
struct WrittenTree {
    /// The tree with the files of its submodules.
    var whole: git_oid
    /// The tree that git would write: submodules without changes are the commits that they are at.
    var tracked: git_oid
    /// The submodules that are not initialized, relative to the root of the whole tree.
    var empty: [String] = []
}

/// Submodules of snapshots. Bots check submodules out, so a snapshot contains their files, as they are on the disk.
extension SnapshotWriter {
    // MARK: Which there are

    /// Returns the initialized submodules of a tree.
    /// - Parameter count: The number of submodules that were found so far.
    /// - Throws: `tooLarge` above the limits that apply to bots.
    func modules(
        of theirs: TreeRepository, in directory: String, depth: Int = 0, count: inout Int
    ) throws(SourceControlError) -> [TreeModule] {
        var found: [TreeModule] = []
        for (bytes, entry) in theirs.tracked.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
            guard entry.mode == 0o160000, let commit = entry.id.commitID,
                let path = String(validating: bytes, as: UTF8.self)
            else { continue }
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

    /// Returns the repository at a path. `nil` if there is none in that directory itself, or if it is behind a link.
    private func repository(at path: String) throws(SourceControlError) -> TreeRepository? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved) == path ? try TreeRepository.read(path, operation: operation) : nil
    }

    /// Returns the directories with the objects of all of them.
    func objects(of modules: [TreeModule]) -> [String] {
        modules.flatMap { $0.repository.objects + objects(of: $0.modules) }
    }

    // MARK: Their trees

    /// Returns the tree with the submodules added to it.
    /// - Parameter base: The tree without them.
    func adding(
        _ modules: [TreeModule], to base: WrittenTree, in ours: OpaquePointer
    ) throws(SourceControlError) -> WrittenTree {
        var (result, whole, tracked) = (base, [Link](), [Link]())
        for module in modules {
            let written = try write(module, in: ours)
            result.empty += written.empty
            whole.append(Link(path: module.path, id: written.whole, mode: GIT_FILEMODE_TREE))
            let isClean = try tree(of: module.commit, in: ours) == written.tracked.hexadecimal
            tracked.append(
                isClean
                    ? Link(path: module.path, id: try git_oid(module.commit), mode: GIT_FILEMODE_COMMIT)
                    : Link(path: module.path, id: written.tracked, mode: GIT_FILEMODE_TREE))
        }
        result.whole = try adding(whole, to: base.whole, in: ours)
        result.tracked = try adding(tracked, to: base.tracked, in: ours)
        return result
    }

    /// The entry at a submodule's path.
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

    /// Writes the tree of a submodule like the whole tree, by its own rules and with its own record.
    private func write(_ module: TreeModule, in ours: OpaquePointer) throws(SourceControlError) -> WrittenTree {
        let path = module.path + "/"
        let writer = SnapshotWriter(
            root: "\(root)/\(module.path)", store: store, configuration: configuration,
            excluded: excluded.filter { $0.hasPrefix(path) }.map { String($0.dropFirst(path.utf8.count)) },
            interruption: interruption, place: place + path)
        return try writer.writeTree(ours, module.repository, module.modules)
    }
}
