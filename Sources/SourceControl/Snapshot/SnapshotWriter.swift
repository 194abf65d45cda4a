import Basics
import CLibGit2
import Glibc
import Model

/// Writes a working tree as a commit into a repository of the service, on its queue. It writes nowhere else.
struct SnapshotWriter: Sendable {
    let root: String
    let store: MirrorStore
    let configuration: GitConfiguration
    /// The directories beneath the root that are left out, relative to it, each with a slash at its end.
    let excluded: [String]
    let interruption: Interruption
    /// The root's path within the whole tree, with a slash at its end; empty if it is the whole tree.
    var place = ""
    /// The last commit of the repository at its previous run; `nil` if it was not run before, or had no commit.
    var before: CommitID?

    /// The number of files above which the service's repository is recreated. They include blobs of changes that are no longer needed.
    static let maximumObjects = 50_000
    private static let lastSnapshot = "refs/martlet-snapshot"
    /// The directory for the records of each tree: its own and those of submodules.
    private static let records = "martlet-trees"

    /// The operation, for error messages.
    var operation: String { "read the working tree \(root)" }

    /// Writes a snapshot.
    /// - Throws: `file` if the service's repository cannot be written. Other errors are about the tree.
    func snapshot() throws(SourceControlError) -> WorkingTreeSnapshot {
        do throws(SourceControlError) {
            return try healing()
        } catch {
            throw blamed(error)
        }
    }

    /// Changes the code of an error if the service's repository caused it. libgit2 reads the tree and writes to that repository in one call, and
    /// reports the same error class for both.
    private func blamed(_ error: SourceControlError) -> SourceControlError {
        guard let failure = error.underlying as? GitFailure, failure.errorClass == Int32(GIT_ERROR_OS.rawValue),
            failure.message.contains(store.path) || !failure.message.contains(root)
        else { return error }
        return SourceControlError(
            code: .file, operation: error.operation,
            message: "\(store.path) cannot be written: \(failure.message); is its disk full?",
            underlying: failure)
    }

    private func healing() throws(SourceControlError) -> WorkingTreeSnapshot {
        do throws(SourceControlError) {
            return try take()
        } catch {
            // The service's repository may be damaged by a killed run, by another version, or by another repository at the same path. All of it can
            // be recreated. A repository of the user that cannot be read stays as it is.
            guard error.underlying is GitFailure || error.code == .mirrorDamaged else { throw error }
            try files(operation) { () throws(FileError) in try Directory(creating: store.path).removeContents() }
            return try take()
        }
    }

    private func take() throws(SourceControlError) -> WorkingTreeSnapshot {
        try LibGit2.start()
        try forgetWhenLarge()
        try removeStaleLocks()
        // It is created if it is missing. It cannot be used before it refers to the user's objects.
        _ = try store.open()
        let theirs = try TreeRepository.read(root, operation: operation)
        var (modules, count) = ([TreeModule](), 0)
        if let theirs { modules = try self.modules(of: theirs, in: root, count: &count) }
        let objects = theirs.map { $0.objects + self.objects(of: modules) } ?? []
        try prepare(theirs, objects)
        let ours = try store.opened()
        let isOther = try isOfAnotherRepository(ours.pointer)
        let tree = try writeTree(ours.pointer, theirs, modules)
        let (ref, head) = (theirs?.ref ?? RefName("HEAD"), theirs?.head)
        let commit = try commit(tree.whole, on: ref, head: head, in: ours.pointer)
        var isChanged = true
        if let head { isChanged = try self.tree(of: head, in: ours.pointer) != tree.tracked.hexadecimal }
        return WorkingTreeSnapshot(
            commit: commit, ref: ref, head: head, isChanged: isChanged, objects: objects,
            upstream: theirs?.upstream ?? UpstreamRefs(), emptySubmodules: tree.empty,
            isOfAnotherRepository: isOther)
    }

    /// Whether the previous run's commit is missing, which means that this is another repository.
    private func isOfAnotherRepository(_ ours: OpaquePointer) throws(SourceControlError) -> Bool {
        guard let before else { return false }
        var id = try git_oid(before)
        let objects = try GitHandle(operation, free: git_odb_free) { git_repository_odb($0, ours) }
        return git_odb_exists(objects.pointer, &id) != 1
    }

    // MARK: Our repository

    private func forgetWhenLarge() throws(SourceControlError) {
        var count = 0
        // The directory is missing at first. If it cannot be counted, it does not count as large.
        try? Directory(opening: store.path).walk("objects", limit: Self.maximumObjects) { _, _ in count += 1 }
        guard count >= Self.maximumObjects else { return }
        try files(operation) { () throws(FileError) in try Directory(opening: store.path).removeContents() }
    }

    /// Removes lock files that a killed run left. Only the service writes here, one run at a time.
    private func removeStaleLocks() throws(SourceControlError) {
        try files(operation) { () throws(FileError) in
            // The directory does not exist yet.
            guard let directory = try? Directory(opening: store.path) else { return }
            for file in ["index", Self.lastSnapshot] { try directory.remove(file + ".lock") }
            // These are files of an earlier version.
            for name in ["index", "modules"] { try directory.remove(name) }
        }
    }

    /// Makes the user's objects, and the tags for `git describe`, available in the service's repository.
    private func prepare(_ theirs: TreeRepository?, _ objects: [String]) throws(SourceControlError) {
        let alternates = objects.map { $0 + "\n" }.joined()
        let tags = theirs?.tags ?? ""
        try files(operation) { () throws(FileError) in
            let directory = try Directory(opening: store.path)
            for part in ["objects/info", Self.records] { try directory.makeDirectories(part) }
            try directory.write("objects/info/alternates", bytes: Array(alternates.utf8))
            try directory.write("packed-refs", bytes: Array(tags.utf8))
        }
    }

    /// Returns the ignore rules for the whole tree; the last ones take precedence. They are: build directories, even if no rule ignores them; the
    /// account's own file (`core.excludesFile`, by default `git/ignore` beside `git/config`, gitignore(5)); the repository's `info/exclude`.
    private func furtherRules(_ theirs: TreeRepository?) -> [String] {
        var files = setting("core.excludesfile", theirs, isPath: true).map { [$0] } ?? []
        if files.isEmpty {
            files = configuration.files.filter { $0.hasSuffix("/git/config") }.map {
                $0.dropLast("config".count) + "ignore"
            }
        }
        return [".build/\n.martlet/\n"] + files.map(TreeRepository.text)
            + [theirs.map { TreeRepository.text($0.common + "info/exclude") }].compactMap(\.self)
    }

    /// Returns a setting of git: the repository's, or else the account's or the system's. `nil` if it is not set.
    private func setting(_ name: String, _ theirs: TreeRepository?, isPath: Bool = false) -> String? {
        var found: String?
        let own = [theirs.map { $0.common + "config" }].compactMap(\.self)
        for file in configuration.files + own where access(file, R_OK) == 0 {
            var opened: OpaquePointer?
            var buffer = git_buf()
            if git_config_open_ondisk(&opened, file) == 0,
                (isPath ? git_config_get_path(&buffer, opened, name) : git_config_get_string_buf(&buffer, opened, name))
                    == 0,
                let text = buffer.ptr
            {
                found = String(cString: text)
            }
            git_buf_dispose(&buffer)
            git_config_free(opened)
        }
        return found
    }

    // MARK: The tree

    func writeTree(
        _ ours: OpaquePointer, _ theirs: TreeRepository?, _ modules: [TreeModule]
    ) throws(SourceControlError) -> WrittenTree {
        let objects = try GitHandle(operation, free: git_odb_free) { git_repository_odb($0, ours) }
        let store = objects.pointer
        let tracked = theirs?.tracked ?? [:]
        let reading = CommitReading(repository: ours, operation: operation)
        // There is no time limit, because a user waits for the result and can cancel it.
        let watch = RuleWatch(operation: operation, interruption: interruption, limit: nil)
        var walk = SnapshotWalk(
            root, operation, watch: watch, excluded: excluded, tracked: tracked, further: furtherRules(theirs),
            attributes: theirs.map { TreeRepository.text($0.common + "info/attributes") } ?? "",
            interruption: interruption
        ) { entry in
            // A blob that is missing or too large has no rules.
            reading.content(entry.id, limit: TreeRules.maximumRuleFile)
        }
        let paths = Set(modules.map { Array($0.path.utf8) })
        try walk.run { paths.contains($0) }
        let autoCRLF = autoCRLF(theirs)
        let name = "\(Self.records)/\(try digest(of: Array(place.utf8)).hexadecimal)"
        var files = SnapshotFiles(
            root: root, operation: operation, repository: ours, objects: store, tracked: tracked,
            attributes: walk.attributes, watch: watch,
            digest: try digest(of: walk.conversions + Array("\(autoCRLF)".utf8)).bytes,
            autoCRLF: autoCRLF, ignoresModes: setting("core.filemode", theirs) == "false")
        try files.readRecord(name, of: self.store)
        for file in walk.files {
            try interruption.check(operation)
            try files.add(file)
        }
        let empty = try addLinks(tracked, beside: paths, to: &files)
        let id = try files.write(name, of: self.store)
        return try adding(modules, to: WrittenTree(whole: id, tracked: id, empty: empty.map { place + $0 }), in: ours)
    }

    private func digest(of bytes: [UInt8]) throws(SourceControlError) -> git_oid {
        var id = git_oid()
        try git(operation) { git_odb_hash(&id, bytes, bytes.count, GIT_OBJECT_BLOB) }
        return id
    }

    private func autoCRLF(_ theirs: TreeRepository?) -> TextConversion.AutoCRLF {
        switch setting("core.autocrlf", theirs)?.lowercased() {
        case "input"?: .input
        case "true"?, "yes"?, "on"?, "1"?: .yes
        default: .no
        }
    }

    /// Adds submodules. Submodules without files stay the commits that git tracks.
    /// - Parameter modules: Paths of submodules whose files are included.
    /// - Returns: The paths of those that are left empty.
    private func addLinks(
        _ tracked: [[UInt8]: TreeRepository.Tracked], beside modules: Set<[UInt8]>, to files: inout SnapshotFiles
    ) throws(SourceControlError) -> [String] {
        var empty: [String] = []
        for (path, entry) in tracked where entry.mode == 0o160000 && !modules.contains(path) {
            // If its repository was removed, its files belong to the tree. If its directory is gone, the submodule is gone, too.
            guard FileStatus(of: Array((root + "/").utf8) + path)?.kind == .directory, !files.hasFiles(beneath: path)
            else {
                continue
            }
            files.addLink(path, entry.id)
            empty.append(String(decoding: path, as: UTF8.self))
        }
        return empty.sorted()
    }

    // MARK: The commit

    private func commit(
        _ tree: git_oid, on ref: RefName, head: CommitID?, in ours: OpaquePointer
    ) throws(SourceControlError) -> CommitID {
        if let head, try self.tree(of: head, in: ours) == tree.hexadecimal { return head }
        var last = git_oid()
        if git_reference_name_to_id(&last, ours, Self.lastSnapshot) == 0, let known = last.commitID,
            try self.tree(of: known, in: ours) == tree.hexadecimal, parent(of: last, in: ours) == head
        {
            // The same commit is used again. With another time it would be another commit, and version stamps in build products would change.
            return known
        }
        let stamp = "Martlet <martlet@localhost> \(time(nil)) +0000"
        let text =
            "tree \(tree.hexadecimal)\n" + (head.map { "parent \($0)\n" } ?? "")
            + "author \(stamp)\ncommitter \(stamp)\n\nThe working tree on \(ref.shortName)\n"
        let odb = try GitHandle(operation, free: git_odb_free) { git_repository_odb($0, ours) }
        var id = git_oid()
        try git(operation) { git_odb_write(&id, odb.pointer, text, text.utf8.count, GIT_OBJECT_COMMIT) }
        _ = try GitHandle(operation, free: git_reference_free) {
            git_reference_create($0, ours, Self.lastSnapshot, &id, 1, "the working tree")
        }
        guard let commit = id.commitID else {
            throw SourceControlError(code: .other, operation: operation, message: "libgit2 wrote no commit")
        }
        return commit
    }

    /// Returns the id of a commit's tree; `nil` if the commit is missing.
    func tree(of commit: CommitID, in ours: OpaquePointer) throws(SourceControlError) -> String? {
        var id = try git_oid(commit)
        var found: OpaquePointer?
        defer { git_commit_free(found) }
        guard git_commit_lookup(&found, ours, &id) == 0 else { return nil }
        return git_commit_tree_id(found)?.pointee.hexadecimal
    }

    private func parent(of commit: git_oid, in ours: OpaquePointer) -> CommitID? {
        var id = commit
        var found: OpaquePointer?
        defer { git_commit_free(found) }
        guard git_commit_lookup(&found, ours, &id) == 0, git_commit_parentcount(found) > 0 else { return nil }
        return git_commit_parent_id(found, 0)?.pointee.commitID
    }
}
