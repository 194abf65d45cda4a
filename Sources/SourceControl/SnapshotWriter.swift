import Basics
import CLibGit2
import Glibc
import Model

/// Writes a working tree as a commit into a repository of ours, on its lane. Nothing is written anywhere else.
struct SnapshotWriter: Sendable {
    let root: String
    let store: MirrorStore
    let configuration: GitConfiguration
    /// Directories below the root that are left out, relative to it, each with a slash at its end.
    let excluded: [String]
    let interruption: Interruption
    /// Where the root is within the whole tree, with a slash at its end; nothing where it is the whole.
    var place = ""

    /// Our repository is made anew above so many files: the blobs of changes that nobody asks for any more.
    static let maximumObjects = 50_000
    /// A larger ignore file of the person's does not count, in bytes.
    private static let maximumIgnoreFile = 1 << 20
    private static let lastSnapshot = "refs/martlet-snapshot"

    /// What is being tried, for errors.
    var operation: String { "read the working tree \(root)" }

    /// - Throws: `file` for what cannot be written into our repository; the rest of its faults are the tree's.
    func snapshot() throws(SourceControlError) -> WorkingTreeSnapshot {
        do throws(SourceControlError) {
            return try healing()
        } catch {
            throw blamed(error)
        }
    }

    /// libgit2 reads the tree and writes to our repository in one call, and says of either that the system refused it.
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
            // Objects that are not there any more although our index knows them: all of it can be made again.
            guard [.treeRefused, .mirrorDamaged].contains(error.code) else { throw error }
            try files(operation) { () throws(FileError) in try Directory(creating: store.path).removeContents() }
            return try take()
        }
    }

    private func take() throws(SourceControlError) -> WorkingTreeSnapshot {
        try LibGit2.start()
        // Of the whole process, which then must keep no mirror: an object synchronized takes 1 to 10 ms, a first snapshot has
        // thousands, and what a loss of power damages here is made again.
        try git(operation) { clibgit2_set_option_int(Int32(GIT_OPT_ENABLE_FSYNC_GITDIR.rawValue), 0) }
        try forgetWhenLarge()
        try removeStaleLocks()
        // Made when absent; it cannot be used before it refers to their objects.
        _ = try store.open()
        let theirs = try open(root)
        var (modules, count) = ([TreeModule](), 0)
        if let theirs { modules = try self.modules(of: theirs, count: &count) }
        let objects = theirs.map { self.objects(of: $0) + self.objects(of: modules) } ?? []
        try prepare(theirs, objects)
        let ours = try openOurs()
        // It knows of each file what stat(2) said, so that only changed ones are read the next time.
        let index = try GitHandle(operation, free: git_index_free) { git_repository_index($0, ours.pointer) }
        let tree = try writeTree(ours.pointer, index.pointer, theirs, modules)
        var (ref, head) = (RefName("HEAD"), CommitID?.none)
        if let theirs { (ref, head) = try self.head(of: theirs) }
        let commit = try commit(tree.whole, on: ref, head: head, in: ours.pointer)
        var isChanged = true
        if let head { isChanged = try self.tree(of: head, in: ours.pointer) != tree.tracked.hexadecimal }
        return WorkingTreeSnapshot(
            commit: commit, ref: ref, head: head, isChanged: isChanged, objects: objects, emptySubmodules: tree.empty)
    }

    // MARK: Their repository

    /// Nothing where the directory has none.
    func open(_ directory: String) throws(SourceControlError) -> Repository? {
        var opened: OpaquePointer?
        let result = git_repository_open_ext(&opened, directory, GIT_REPOSITORY_OPEN_NO_SEARCH.rawValue, nil)
        if result == GIT_ENOTFOUND.rawValue { return nil }
        try git(operation) { result }
        return opened.map(Repository.init)
    }

    /// An opened repository that may be absent, which `GitHandle` cannot.
    final class Repository {
        /// As long as this lives.
        let pointer: OpaquePointer
        init(_ pointer: OpaquePointer) { self.pointer = pointer }
        deinit { git_repository_free(pointer) }
    }

    private func head(of theirs: Repository) throws(SourceControlError) -> (RefName, CommitID?) {
        let reference = try GitHandle(operation, free: git_reference_free) {
            git_reference_lookup($0, theirs.pointer, "HEAD")
        }
        let target = git_reference_symbolic_target(reference.pointer).map { RefName(String(cString: $0)) }
        var id = git_oid()
        let result = git_reference_name_to_id(&id, theirs.pointer, "HEAD")
        if result == GIT_ENOTFOUND.rawValue { return (target ?? RefName("HEAD"), nil) }
        try git(operation) { result }
        return (target ?? RefName("HEAD"), id.commitID)
    }

    /// What several working trees share, with a slash at its end.
    private func common(of theirs: Repository) -> String {
        git_repository_commondir(theirs.pointer).map { String(cString: $0) } ?? ""
    }

    /// Where their objects are, with the directories that those refer to themselves (`git clone --shared`).
    func objects(of theirs: Repository) -> [String] {
        let own = common(of: theirs) + "objects"
        let further = text(own + "/info/alternates").split(separator: "\n").map(String.init)
        return [own] + further.filter { $0.hasPrefix("/") }
    }

    // MARK: Our repository

    private func forgetWhenLarge() throws(SourceControlError) {
        var count = 0
        // Absent at first, and whatever cannot be counted is not large.
        try? Directory(opening: store.path).walk("objects", limit: Self.maximumObjects) { _, _ in count += 1 }
        guard count >= Self.maximumObjects else { return }
        try files(operation) { () throws(FileError) in try Directory(opening: store.path).removeContents() }
    }

    /// Left by a run that was killed while it wrote: nobody else writes here, and we one after the other.
    private func removeStaleLocks() throws(SourceControlError) {
        try files(operation) { () throws(FileError) in
            guard let directory = try? Directory(opening: store.path) else { return }  // Not made yet.
            for file in ["index", Self.lastSnapshot] { try directory.remove(file + ".lock") }
        }
    }

    /// Where their objects are, their tags for `git describe`, and what is ignored.
    private func prepare(_ theirs: Repository?, _ objects: [String]) throws(SourceControlError) {
        let alternates = objects.map { $0 + "\n" }.joined()
        let tags = try theirs.map { theirs throws(SourceControlError) in try packedTags(of: theirs) } ?? ""
        try files(operation) { () throws(FileError) in
            let directory = try Directory(opening: store.path)
            for part in ["objects/info", "info"] { try directory.makeDirectories(part) }
            try directory.write("objects/info/alternates", bytes: Array(alternates.utf8))
            try directory.write("packed-refs", bytes: Array(tags.utf8))
        }
        try writeIgnored(theirs)
    }

    /// Our repository, with the root as its working tree.
    func openOurs() throws(SourceControlError) -> GitHandle {
        let ours = try store.opened()
        try git(operation) { git_repository_set_workdir(ours.pointer, root, 0) }
        return ours
    }

    /// What is ignored, for repositories that are opened afterwards.
    func writeIgnored(_ theirs: Repository?) throws(SourceControlError) {
        // Build directories count as ignored also where nobody wrote so.
        var ignored = ".build/\n.martlet/\n"
        for directory in excluded { ignored += "/" + Self.pattern(directory) + "\n" }
        for file in ignoreFiles() { ignored += text(file) }
        if let theirs { ignored += text(common(of: theirs) + "info/exclude") }
        try files(operation) { () throws(FileError) in
            try Directory(opening: store.path).write("info/exclude", bytes: Array(ignored.utf8))
        }
    }

    /// What matches this path alone (gitignore(5)).
    private static func pattern(_ path: String) -> String {
        String(path.flatMap { "\\*?[ ".contains($0) ? ["\\", $0] : [$0] })
    }

    private func text(_ file: String) -> String {
        // Absent as a rule; one that cannot be read ignores nothing, as git has it.
        guard let bytes = try? WholeFile.read(file, limit: Self.maximumIgnoreFile) else { return "" }
        return String(decoding: bytes, as: UTF8.self) + "\n"
    }

    /// The person's own: `core.excludesFile`, by default `git/ignore` beside `git/config` (gitignore(5)).
    private func ignoreFiles() -> [String] {
        var found: [String] = []
        for file in configuration.files where access(file, R_OK) == 0 {
            var opened: OpaquePointer?
            var buffer = git_buf()
            if git_config_open_ondisk(&opened, file) == 0,
                git_config_get_path(&buffer, opened, "core.excludesfile") == 0,
                let path = buffer.ptr
            {
                found = [String(cString: path)]
            }
            git_buf_dispose(&buffer)
            git_config_free(opened)
        }
        if found.isEmpty {
            found = configuration.files.filter { $0.hasSuffix("/git/config") }.map {
                $0.dropLast("config".count) + "ignore"
            }
        }
        return found
    }

    private func packedTags(of theirs: Repository) throws(SourceControlError) -> String {
        var iterator: OpaquePointer?
        try git(operation) { git_reference_iterator_glob_new(&iterator, theirs.pointer, "refs/tags/*") }
        defer { git_reference_iterator_free(iterator) }
        var lines: [(name: String, text: String)] = []
        var reference: OpaquePointer?
        while git_reference_next(&reference, iterator) == 0 {
            defer { git_reference_free(reference) }
            guard let name = git_reference_name(reference), let id = git_reference_target(reference) else { continue }
            var line = "\(id.pointee.hexadecimal) \(String(cString: name))\n"
            var peeled: OpaquePointer?
            if git_reference_peel(&peeled, reference, GIT_OBJECT_COMMIT) == 0, let object = git_object_id(peeled),
                object.pointee.hexadecimal != id.pointee.hexadecimal
            {
                line += "^\(object.pointee.hexadecimal)\n"
            }
            git_object_free(peeled)
            lines.append((String(cString: name), line))
        }
        lines.sort { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        return "# pack-refs with: peeled fully-peeled sorted \n" + lines.map(\.text).joined()
    }

    // MARK: The tree

    /// - Parameter index: Ours.
    func writeTree(
        _ ours: OpaquePointer, _ index: OpaquePointer, _ theirs: Repository?, _ modules: [TreeModule]
    ) throws(SourceControlError) -> WrittenTree {
        try forgetIgnored(in: index, ours, theirs)
        let left = LeftOut(excluded, interruption)
        let result = git_index_add_all(
            index, nil, GIT_INDEX_ADD_DEFAULT.rawValue,
            { path, _, left in
                guard let path, let left else { return 1 }
                let rules = Unmanaged<LeftOut>.fromOpaque(left).takeUnretainedValue()
                if rules.interruption.isRequested { return GIT_EUSER.rawValue }
                return rules.has(String(cString: path)) ? 1 : 0
            }, Unmanaged.passUnretained(left).toOpaque())
        withExtendedLifetime(left) {}
        try interruption.check(operation)
        try git(operation) { result }
        var empty: [String] = []
        if let theirs { empty = try addTracked(of: theirs, to: index, beside: Set(modules.map(\.path))) }
        try git(operation) { git_index_write(index) }
        var id = git_oid()
        try git(operation) { git_index_write_tree(&id, index) }
        let written = WrittenTree(whole: id, tracked: id, empty: empty.map { place + $0 })
        return try adding(modules, to: written, in: ours)
    }

    /// What is not read. A rule of the tree (`!*/`) may take what is excluded out of what is ignored.
    private final class LeftOut {
        let excluded: [String]
        /// Asked before each file.
        let interruption: Interruption
        init(_ excluded: [String], _ interruption: Interruption) {
            (self.excluded, self.interruption) = (excluded, interruption)
        }

        /// A repository within the tree comes as a path with a slash at its end; submodules are added afterwards.
        func has(_ path: String) -> Bool { path.hasSuffix("/") || excluded.contains(where: path.hasPrefix) }
    }

    /// What is in an index stays in it when a rule begins to ignore it, since git tracks it. This one tracks nothing: it only
    /// knows what was there the last time. Submodules are theirs to say, each time anew.
    private func forgetIgnored(
        in index: OpaquePointer, _ ours: OpaquePointer, _ theirs: Repository?
    ) throws(SourceControlError) {
        var opened: OpaquePointer?
        if let theirs { try git(operation) { git_repository_index(&opened, theirs.pointer) } }
        defer { git_index_free(opened) }
        // From the end, since each removal moves the later ones.
        for place in (0..<git_index_entrycount(index)).reversed() {
            guard let entry = git_index_get_byindex(index, place)?.pointee, let name = entry.path else { continue }
            let path = String(cString: name)
            try interruption.check(operation)
            if entry.mode == GIT_FILEMODE_COMMIT.rawValue {
                try git(operation) { git_index_remove(index, path, 0) }
                continue
            }
            if opened != nil, git_index_get_bypath(opened, path, 0) != nil { continue }
            var isIgnored: Int32 = 0
            try git(operation) { git_ignore_path_is_ignored(&isIgnored, ours, path) }
            guard isIgnored == 1 || excluded.contains(where: path.hasPrefix) else { continue }
            try git(operation) { git_index_remove(index, path, 0) }
        }
    }

    /// What they track counts, also when a rule ignores it; submodules without files stay the commits that they track.
    /// - Parameter modules: Paths of submodules whose files are taken.
    /// - Returns: The paths of those that are left empty.
    private func addTracked(
        of theirs: Repository, to ours: OpaquePointer, beside modules: Set<String>
    ) throws(SourceControlError) -> [String] {
        var empty: [String] = []
        let index = try GitHandle(operation, free: git_index_free) { git_repository_index($0, theirs.pointer) }
        for place in 0..<git_index_entrycount(index.pointer) {
            guard let entry = git_index_get_byindex(index.pointer, place), let path = entry.pointee.path else {
                continue
            }
            try interruption.check(operation)
            if entry.pointee.mode == GIT_FILEMODE_COMMIT.rawValue {
                let name = String(cString: path)
                // Where somebody took its repository away, its files are the tree's.
                guard !modules.contains(name), git_index_find_prefix(nil, ours, name + "/") != 0 else { continue }
                try git(operation) { git_index_add(ours, entry) }
                empty.append(name)
            } else if git_index_get_bypath(ours, path, 0) == nil {
                var status = stat()
                let file = root + "/" + String(cString: path)
                guard lstat(file, &status) == 0, [S_IFREG, S_IFLNK].contains(status.st_mode & S_IFMT) else { continue }
                try git(operation) { git_index_add_bypath(ours, path) }
            }
        }
        return empty
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
            // The same again: with another time it would be another commit, and stamps built into products would change.
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

    /// Nothing for a commit that is not there.
    func tree(of commit: CommitID, in ours: OpaquePointer) throws(SourceControlError) -> String? {
        var id = try git_oid(commit)
        var found: OpaquePointer?
        defer { git_commit_free(found) }
        // A commit that is not here has no tree to compare with.
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
