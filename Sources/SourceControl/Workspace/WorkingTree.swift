import Basics
import CLibGit2
import Glibc
package import Model

/// A user's directory, read as the commit that it would be: its present files with uncommitted changes and new files, without ignored ones. The files
/// of initialized submodules are part of it.
///
/// The directory and its repository are only read. The commit is written to a bare repository of the service that refers to the user's objects, so
/// that only uncommitted changes are stored. A directory without a repository is read in the same way.
package struct WorkingTree: Sendable {
    /// The root, as an absolute path without links and without a slash at its end.
    package let path: String
    let store: MirrorStore
    let queue = SerialQueue(label: "working-tree")
    /// The git configuration whose ignore file applies in addition to the tree's own rules.
    let configuration: GitConfiguration
    let excluded: [String]

    /// - Parameters:
    ///   - path: The root, as returned by `root(of:)`.
    ///   - repository: The absolute path of the service's repository. It is created if it is missing, and emptied if it has become large.
    ///   - excluded: Absolute paths of directories that are not part of the tree even if they are in it.
    package init(
        path: String, repository: String, excluding excluded: [String] = [],
        configuration: GitConfiguration = .ofThisAccount
    ) {
        self.path = path
        self.excluded = excluded
        self.configuration = configuration
        store = MirrorStore(path: repository, name: repository.split(separator: "/").last.map(String.init) ?? "")
    }

    /// The mirror from which jobs are checked out, which reads the service's repository.
    package var mirror: Mirror {
        Mirror(
            url: RemoteURL(directory: path), credentials: nil, store: store, queue: queue, limits: NetworkLimits(),
            configuration: configuration, engine: .library, listCache: RefListCache(),
            kept: KeptRepositories())
    }

    /// Returns the directory on the disk as a commit, or HEAD if there is no difference. The first time, all files are read; later, only the changes.
    /// Files are not synchronized, because the written objects can be created again. A canceled task stops after the current file.
    /// - Parameter before: The last commit of the repository at the previous snapshot; `nil` if there is none.
    /// - Throws: `file` for a failed write, `treeRefused`, `tooLarge`, `unsupported`, `canceled`, `other`.
    package func snapshot(since before: CommitID? = nil) async throws(SourceControlError) -> WorkingTreeSnapshot {
        let cancellation = CancellationFlag()
        let interruption = Interruption { cancellation.isSet }
        let result: Result<WorkingTreeSnapshot, SourceControlError> = await withTaskCancellationHandler {
            await taken(interruption, before)
        } onCancel: {
            cancellation.set()
        }
        return try result.get()
    }

    /// Returns the result of a snapshot, because a cancellation handler does not pass a typed error on.
    private func taken(_ interruption: Interruption, _ before: CommitID?) async -> Result<
        WorkingTreeSnapshot, SourceControlError
    > {
        let (path, store, configuration, excluded) = (path, store, configuration, excluded)
        do throws(SourceControlError) {
            return .success(
                try await queue.run { () throws(SourceControlError) in
                    // The paths are resolved without links, like the root.
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

    /// Returns the root of the tree that contains a directory. It is the root of the git repository around the directory. It is the directory itself
    /// if there is no repository, if the repository ignores the directory, or if the repository is the whole home directory.
    /// - Parameter home: The user's home directory.
    /// - Throws: `file` if there is no such directory, `other` for a repository without a working tree.
    package static func root(of directory: String, home: String?) throws(SourceControlError) -> String {
        try LibGit2.start()
        let operation = "find a working tree at \(directory)"
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
        // A directory with files of the user can look like a bare repository, and its configuration can name any directory as its working tree.
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

/// The state of a working tree at one moment.
package struct WorkingTreeSnapshot: Sendable, Hashable {
    /// The tree as a commit, with the files of its submodules. HEAD itself if there is no difference.
    package let commit: CommitID
    /// The ref of HEAD: a branch, or `HEAD` if it is detached or there is no repository.
    package let ref: RefName
    /// The last commit; `nil` if there is none.
    package let head: CommitID?
    /// Whether the tree differs from HEAD, apart from submodules at the commits that HEAD names.
    package let isChanged: Bool
    /// The directories of objects that the mirror's objects refer to. git must have access to them in addition to the mirror's own.
    package let objects: [String]
    /// The default branch of the repository that the user's was cloned from, or else its own.
    package let upstream: UpstreamRefs
    /// The submodules that are not initialized, whose directories are empty.
    package let emptySubmodules: [String]
    /// Whether the commit `since` is not in the repository, so that it is another repository at the same path. Build products and results of the
    /// earlier one are of no use.
    package let isOfAnotherRepository: Bool
}
