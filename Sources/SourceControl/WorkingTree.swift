import Basics
import CLibGit2
import Glibc
package import Model

/// A directory that somebody works in, read as the commit that it would be: what is on the disk now, with uncommitted
/// changes and new files, without ignored ones. Files of submodules that are initialized are part of it.
///
/// The directory and its repository are only read. The commit lies in a bare repository of ours that refers to the objects
/// of theirs, so that only what is not committed yet is stored. A directory without a repository is read in the same way.
package struct WorkingTree: Sendable {
    /// The root: absolute, without links and without a slash at its end.
    package let path: String
    let store: MirrorStore
    let lane = BlockingLane(label: "working-tree")
    /// Whose ignore file counts beside the tree's own.
    let configuration: GitConfiguration
    let excluded: [String]

    /// - Parameters:
    ///   - path: The root, as `root(of:)` found it.
    ///   - repository: Where our own repository lies, absolute; made when absent, and emptied when it has grown large.
    ///   - excluded: Directories, absolute, that are no part of the tree although they may lie in it.
    package init(
        path: String, repository: String, excluding excluded: [String] = [],
        configuration: GitConfiguration = .ofThisAccount
    ) {
        self.path = path
        self.excluded = excluded
        self.configuration = configuration
        store = MirrorStore(path: repository, name: repository.split(separator: "/").last.map(String.init) ?? "")
    }

    /// What is read there is what jobs are checked out from.
    package var mirror: Mirror {
        Mirror(
            url: RemoteURL(directory: path), credentials: nil, store: store, lane: lane, limits: NetworkLimits(),
            configuration: configuration, engine: .library, memory: ListMemory(),
            kept: KeptRepositories())
    }

    /// Returns the directory on the disk as a commit; HEAD's own if nothing differs. Takes as long as reading the changes since the last time; the
    /// first time, everything. Nothing is synchronized: the written objects can be made again. A canceled
    /// task stops after the current file.
    /// - Parameter before: The last commit of the repository at the previous snapshot.
    /// - Throws: `file` for a failed write, `treeRefused`, `tooLarge`, `unsupported`, `canceled`, `other`.
    package func snapshot(since before: CommitID? = nil) async throws(SourceControlError) -> WorkingTreeSnapshot {
        let wish = CancelWish()
        let interruption = Interruption { wish.isThere }
        let result: Result<WorkingTreeSnapshot, SourceControlError> = await withTaskCancellationHandler {
            await taken(interruption, before)
        } onCancel: {
            wish.say()
        }
        return try result.get()
    }

    /// What a snapshot came to: a cancellation handler passes no typed error on.
    private func taken(_ interruption: Interruption, _ before: CommitID?) async -> Result<
        WorkingTreeSnapshot, SourceControlError
    > {
        let (path, store, configuration, excluded) = (path, store, configuration, excluded)
        do throws(SourceControlError) {
            return .success(
                try await lane.run { () throws(SourceControlError) in
                    // Without links, as the root is.
                    let within = excluded.compactMap { Self.canonical($0) }.filter { $0.hasPrefix(path + "/") }
                    return try SnapshotWriter(
                        root: path, store: store, configuration: configuration,
                        excluded: within.map { String($0.dropFirst(path.utf8.count + 1)) + "/" },
                        interruption: interruption, before: before
                    ).snapshot()
                })
        } catch {
            return .failure(error)
        }
    }

    /// Where the tree that a directory is in begins: the root of the git repository around it, or the directory itself where
    /// there is none, where the repository ignores the directory, and where it is the whole home directory.
    /// - Parameter home: The person's home directory.
    /// - Throws: `file` when there is no such directory, `other` for a repository without a working tree.
    package static func root(of directory: String, home: String?) throws(SourceControlError) -> String {
        try LibGit2.start()
        let operation = "look for a working tree at \(directory)"
        guard let own = canonical(directory) else {
            throw SourceControlError(code: .file, operation: operation, message: "there is no such directory")
        }
        var opened: OpaquePointer?
        let result = git_repository_open_ext(&opened, own, 0, nil)
        if result == GIT_ENOTFOUND.rawValue { return own }
        defer { git_repository_free(opened) }
        do throws(SourceControlError) {
            try git(operation) { result }
        } catch {
            guard RepositoryFormat.isRefused(by: error) else { throw error }
            let root = try ProgramTree(own, operation: operation, after: error).root()
            return root == home.flatMap(canonical) ? own : root ?? own
        }
        // A directory of the user's files can look like a bare repository, and its configuration can name any directory as its files.
        let repository = git_repository_path(opened).flatMap { canonical(String(cString: $0)) }
        let isBare = repository.map { (own + "/").hasPrefix($0 + "/") && !$0.hasSuffix("/.git") } ?? false
        guard !isBare, let workdir = git_repository_workdir(opened), let root = canonical(String(cString: workdir))
        else {
            throw SourceControlError(
                code: .other, operation: operation,
                message: "it is a bare repository, which has no files to build; clone it first")
        }
        if root == own || root == home.flatMap(canonical) { return own }
        var isIgnored: Int32 = 0
        try git(operation) { git_ignore_path_is_ignored(&isIgnored, opened, own.dropFirst(root.count + 1) + "/") }
        return isIgnored == 1 ? own : root
    }

    private static func canonical(_ path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        var status = stat()
        guard stat(resolved, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else { return nil }
        return String(cString: resolved)
    }
}

/// What a working tree was at one moment.
package struct WorkingTreeSnapshot: Sendable, Hashable {
    /// The tree as a commit, with the files of its submodules; HEAD itself if nothing differs from it.
    package let commit: CommitID
    /// What HEAD is: a branch, or `HEAD` when it is a commit's own or there is no repository.
    package let ref: RefName
    /// The last commit; `nil` if there is none.
    package let head: CommitID?
    /// Whether something is there that HEAD does not have, or not by the commits of its submodules.
    package let isChanged: Bool
    /// Directories of objects that the mirror's objects refer to: git needs to see them beside the mirror's own.
    package let objects: [String]
    /// The default branch of the repository that the user's was cloned from, else its own.
    package let upstream: UpstreamRefs
    /// Submodules that are not initialized: their directories are empty.
    package let emptySubmodules: [String]
    /// Whether the commit `since` is not in the repository: it is another one at the same path. Build products and results of the earlier one are
    /// of no use.
    package let isOfAnotherRepository: Bool
}
