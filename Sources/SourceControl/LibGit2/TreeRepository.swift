import Basics
import CLibGit2
import Glibc
import Model

/// The facts that a snapshot needs about the repository of a working tree. The repository is only read.
///
/// libgit2 reads it if possible; otherwise the `git` command does. libgit2 1.5 refuses every extension of the repository's format and of its index
/// (worktreeConfig, partialClone, relativeWorktrees, preciousObjects; split and sparse indexes).
struct TreeRepository {
    /// A file, link or submodule that the repository's index tracks.
    struct Tracked {
        let mode: UInt32
        let id: git_oid
        /// Whether the file on the disk equals `id`; called with the file's status.
        let isUnchanged: @Sendable (FileStatus) -> Bool
    }

    /// The directory that several working trees share, with a slash at its end.
    let common: String
    /// The ref that HEAD names; `HEAD` if it is detached.
    let ref: RefName
    /// The last commit; `nil` before the first one.
    let head: CommitID?
    /// The tags as the text of `packed-refs`.
    let tags: String
    /// The tracked files, by their paths relative to the root of the tree.
    let tracked: [[UInt8]: Tracked]

    /// Reads the repository of a directory.
    /// - Returns: `nil` if the directory has no repository.
    /// - Throws: `unsupported` for a format that neither libgit2 nor the `git` command of this machine reads.
    static func read(_ directory: String, operation: String) throws(SourceControlError) -> TreeRepository? {
        var status = stat()
        // git itself checks for this. All files in it may be damaged.
        guard lstat(directory + "/.git", &status) == 0 else { return nil }
        do throws(SourceControlError) {
            return try LibraryTree(directory, operation: operation)?.read()
        } catch {
            if error.code == .mirrorDamaged, let failure = error.underlying as? GitFailure {
                throw SourceControlError(
                    code: .other, operation: operation,
                    message: "\(directory) has a repository that is damaged (\(failure.message)); look at it with "
                        + "`git -C \(directory) fsck`", underlying: error)
            }
            guard RepositoryFormat.isRefused(by: error) else { throw error }
            return try ProgramTree(directory, operation: operation, after: error).read()
        }
    }

    /// The directories of the objects, including the alternates (`git clone --shared`).
    var objects: [String] {
        let own = common + "objects"
        let further = Self.text(own + "/info/alternates").split(separator: "\n").map(String.init)
        return [own] + further.filter { $0.hasPrefix("/") }
    }

    /// Returns a file of rules or paths. Empty if it is missing or cannot be read, as in git.
    static func text(_ file: String) -> String {
        (try? WholeFile.read(file, limit: TreeRules.maximumRuleFile)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    /// Returns the text of `packed-refs`: a line for each tag, and a line for the target of each annotated tag.
    static func packed(_ tags: [(name: String, id: String, peeled: String?)]) -> String {
        "# pack-refs with: peeled fully-peeled sorted \n"
            + tags.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }.map { tag in
                "\(tag.id) \(tag.name)\n" + (tag.peeled.map { "^\($0)\n" } ?? "")
            }.joined()
    }
}

/// The repository of a working tree, read by libgit2.
private struct LibraryTree {
    private let repository: OpenRepository
    private let operation: String

    init?(_ directory: String, operation: String) throws(SourceControlError) {
        try LibGit2.start()
        self.operation = operation
        var opened: OpaquePointer?
        let result = git_repository_open_ext(&opened, directory, GIT_REPOSITORY_OPEN_NO_SEARCH.rawValue, nil)
        // git treats a `.git` without a repository as an ordinary file.
        if result == GIT_ENOTFOUND.rawValue { return nil }
        repository = OpenRepository(
            try GitHandle(operation, free: git_repository_free) { made in
                made.pointee = opened
                return result
            })
    }

    func read() throws(SourceControlError) -> TreeRepository {
        let (ref, head) = try head()
        return TreeRepository(
            common: git_repository_commondir(repository.pointer).map { String(cString: $0) } ?? "", ref: ref,
            head: head,
            tags: try tags(), tracked: try tracked())
    }

    private func head() throws(SourceControlError) -> (RefName, CommitID?) {
        let reference = try GitHandle(operation, free: git_reference_free) {
            git_reference_lookup($0, repository.pointer, "HEAD")
        }
        let target = git_reference_symbolic_target(reference.pointer).map { RefName(String(cString: $0)) }
        var id = git_oid()
        let result = git_reference_name_to_id(&id, repository.pointer, "HEAD")
        if result == GIT_ENOTFOUND.rawValue { return (target ?? RefName("HEAD"), nil) }
        try git(operation) { result }
        return (target ?? RefName("HEAD"), id.commitID)
    }

    private func tags() throws(SourceControlError) -> String {
        var iterator: OpaquePointer?
        try git(operation) { git_reference_iterator_glob_new(&iterator, repository.pointer, "refs/tags/*") }
        defer { git_reference_iterator_free(iterator) }
        var tags: [(name: String, id: String, peeled: String?)] = []
        var reference: OpaquePointer?
        while git_reference_next(&reference, iterator) == 0 {
            defer { git_reference_free(reference) }
            guard let name = git_reference_name(reference), let id = git_reference_target(reference) else { continue }
            var (peeled, found): (String?, OpaquePointer?) = (nil, nil)
            if git_reference_peel(&found, reference, GIT_OBJECT_COMMIT) == 0, let object = git_object_id(found) {
                peeled = object.pointee.hexadecimal
            }
            git_object_free(found)
            let own = id.pointee.hexadecimal
            tags.append((String(cString: name), own, peeled == own ? nil : peeled))
        }
        return TreeRepository.packed(tags)
    }

    private func tracked() throws(SourceControlError) -> [[UInt8]: TreeRepository.Tracked] {
        let index = try GitHandle(operation, free: git_index_free) { git_repository_index($0, repository.pointer) }
        // A file that changed at the moment when the index was written may have the times in the index (racy-git).
        let path = git_index_path(index.pointer).map { String(cString: $0) } ?? ""
        let written = FileStatus(of: Array(path.utf8))?.modified ?? 0
        var found: [[UInt8]: TreeRepository.Tracked] = [:]
        let count = git_index_entrycount(index.pointer)
        found.reserveCapacity(count)
        for place in 0..<count {
            guard let entry = git_index_get_byindex(index.pointer, place)?.pointee, let name = entry.path else {
                continue
            }
            let path = Array(UnsafeRawBufferPointer(start: name, count: strlen(name)))
            let isConflict = (Int32(entry.flags) & 0x3000) != 0
            let isUnusual =
                UInt32(entry.flags_extended)
                & (GIT_INDEX_ENTRY_INTENT_TO_ADD.rawValue | GIT_INDEX_ENTRY_SKIP_WORKTREE.rawValue)
                != 0
            let stored = Stored(entry)
            found[path] = TreeRepository.Tracked(mode: entry.mode, id: entry.id) { status in
                !isConflict && !isUnusual && stored.matches(status, written: written)
            }
        }
        return found
    }

    /// A file's status in an index (gitformat-index(5)), in 32 bits each. As in git's usual builds, fractions of a second are ignored, so the times
    /// do not show a change in the second in which the index was written.
    private struct Stored: Sendable {
        let changed, modified: Int32
        let inode, size, mode: UInt32

        init(_ entry: git_index_entry) {
            (changed, modified) = (entry.ctime.seconds, entry.mtime.seconds)
            (inode, size, mode) = (entry.ino, entry.file_size, entry.mode)
        }

        func matches(_ status: FileStatus, written: Int64) -> Bool {
            let isKind: Bool
            switch status.kind {
            case .file: isKind = mode == (status.mode & 0o100 != 0 ? 0o100755 : 0o100644)
            case .link: isKind = mode == 0o120000
            case .directory, .other: isKind = false
            }
            return isKind && UInt32(truncatingIfNeeded: status.size) == size
                && UInt32(truncatingIfNeeded: status.inode) == inode && Self.second(of: status.changed) == changed
                && Self.second(of: status.modified) == modified
                && status.modified / 1_000_000_000 < written / 1_000_000_000
        }

        private static func second(of time: Int64) -> Int32 { Int32(truncatingIfNeeded: time / 1_000_000_000) }
    }
}

extension TreeRepository {
    /// The default branch of the repository that this one was cloned from, as `git clone` records it. If there is no such record, it is a branch with
    /// a usual name, the server's or its own. Empty if there is none. It is read directly from the files, whichever program reads the repository.
    var upstream: UpstreamRefs {
        let remote = "refs/remotes/origin/"
        var names = ["main", "master"].flatMap { [(remote + $0, $0), ("refs/heads/" + $0, $0)] }
        let head = Self.text(common + remote + "HEAD").split(separator: "\n").first ?? ""
        if head.hasPrefix("ref: " + remote), !head.contains("..") {
            let branch = String(head.dropFirst("ref: ".count + remote.count))
            names.insert((remote + branch, branch), at: 0)
        }
        // An unreadable file counts as missing.
        let packed = (try? WholeFile.read(common + "packed-refs", limit: 256 << 20)) ?? []
        let lines = String(decoding: packed, as: UTF8.self).split(separator: "\n")
        for (name, branch) in names {
            let loose = Self.text(common + name).split(separator: "\n").first
            let line = loose ?? lines.first { $0.hasSuffix(" " + name) }?.prefix { $0 != " " }
            guard let line, let commit = CommitID(line) else { continue }
            return UpstreamRefs(branches: [RefName(branch: branch): commit], defaultBranch: RefName(branch: branch))
        }
        return UpstreamRefs()
    }
}
