import CLibGit2
import Model

/// Compares files and trees of an open repository, on its queue. It ignores white space: a line with a new indentation is the same line.
struct ChangeReading {
    let reading: CommitReading

    /// The largest file that is compared, in bytes.
    static let maximumFileBytes = 4 << 20
    /// The most pairs of an added and a removed file for which renames with changes are searched. With more pairs, only renames without a change are
    /// found.
    static let maximumRenamePairs = 250_000

    // MARK: Lines

    /// Returns the runs of lines that differ between two blobs; `nil` if one of them is binary or too large.
    func hunks(from old: git_oid, to new: git_oid) throws(SourceControlError) -> [SourceChanges.Hunk]? {
        guard let old = try text(old), let new = try text(new) else { return nil }
        var options = git_diff_options()
        git_diff_options_init(&options, UInt32(GIT_DIFF_OPTIONS_VERSION))
        options.context_lines = 0
        options.interhunk_lines = 0
        options.flags = GIT_DIFF_IGNORE_WHITESPACE.rawValue
        let patch = try GitHandle(reading.operation, free: git_patch_free) {
            git_patch_from_blobs($0, old.pointer, nil, new.pointer, nil, &options)
        }
        return try (0..<git_patch_num_hunks(patch.pointer)).map { index throws(SourceControlError) in
            var hunk: UnsafePointer<git_diff_hunk>?
            try git(reading.operation) { git_patch_get_hunk(&hunk, nil, patch.pointer, index) }
            guard let hunk = hunk?.pointee else { return SourceChanges.Hunk(old: 1..<1, new: 1..<1) }
            return SourceChanges.Hunk(
                old: Self.range(hunk.old_start, hunk.old_lines), new: Self.range(hunk.new_start, hunk.new_lines))
        }
    }

    /// Converts a range of lines. For an empty run, git states the line before it.
    private static func range(_ start: Int32, _ count: Int32) -> Range<Int> {
        let start = Int(start) + (count == 0 ? 1 : 0)
        return start..<start + Int(count)
    }

    /// Returns a blob whose lines can be compared; `nil` if it is binary or too large.
    private func text(_ id: git_oid) throws(SourceControlError) -> Blob? {
        do throws(SourceControlError) {
            let blob = try reading.blob(id, limit: Self.maximumFileBytes, path: "a file")
            return git_blob_is_binary(blob.pointer) == 1 ? nil : Blob(blob)
        } catch {
            if error.code == .tooLarge { return nil }
            throw error
        }
    }

    private final class Blob {
        let handle: GitHandle
        var pointer: OpaquePointer { handle.pointer }
        init(_ handle: consuming GitHandle) { self.handle = handle }
    }

    // MARK: Trees

    /// Returns the blob of a regular file of a tree; `nil` if there is none at the path.
    func file(_ path: String, in tree: borrowing GitHandle) -> git_oid? {
        var entry: OpaquePointer?
        guard !path.isEmpty, !path.utf8.contains(0), git_tree_entry_bypath(&entry, tree.pointer, path) == 0 else {
            return nil
        }
        defer { git_tree_entry_free(entry) }
        let mode = git_tree_entry_filemode(entry)
        guard mode == GIT_FILEMODE_BLOB || mode == GIT_FILEMODE_BLOB_EXECUTABLE else { return nil }
        return git_tree_entry_id(entry)?.pointee
    }

    /// A file that differs between two trees.
    struct Delta {
        /// The file before; `nil` if it was added.
        var old: (path: String, id: git_oid)?
        /// The file after; `nil` if it was removed.
        var new: (path: String, id: git_oid)?
    }

    /// Returns the regular files that differ.
    /// - Parameter findsRenames: Whether renames are searched: a removed and an added file become one delta if at least half of their content is the
    ///   same.
    func deltas(
        from old: borrowing GitHandle, to new: borrowing GitHandle, findsRenames: ([Delta]) -> Bool
    ) throws(SourceControlError) -> [Delta] {
        var options = git_diff_options()
        git_diff_options_init(&options, UInt32(GIT_DIFF_OPTIONS_VERSION))
        options.flags = GIT_DIFF_SKIP_BINARY_CHECK.rawValue | GIT_DIFF_IGNORE_SUBMODULES.rawValue
        let (before, after) = (old.pointer, new.pointer)
        let diff = try GitHandle(reading.operation, free: git_diff_free) {
            git_diff_tree_to_tree($0, reading.repository, before, after, &options)
        }
        let plain = Self.deltas(of: diff)
        let (gone, came) = (plain.count { $0.new == nil }, plain.count { $0.old == nil })
        guard gone > 0, came > 0, findsRenames(plain) else { return plain }
        var search = git_diff_find_options()
        git_diff_find_options_init(&search, UInt32(GIT_DIFF_FIND_OPTIONS_VERSION))
        search.flags = GIT_DIFF_FIND_RENAMES.rawValue | GIT_DIFF_FIND_IGNORE_WHITESPACE.rawValue
        search.rename_limit = 1000
        guard gone * came <= Self.maximumRenamePairs, try bytes(of: plain) <= Self.maximumRenameBytes else {
            return Self.joiningEqual(plain)
        }
        try git(reading.operation) { git_diff_find_similar(diff.pointer, &search) }
        return Self.deltas(of: diff)
    }

    /// Returns the size of all added and removed files, in bytes. libgit2 reads all of it and cannot be interrupted.
    private func bytes(of deltas: [Delta]) throws(SourceControlError) -> Int {
        let repository = reading.repository
        let store = try GitHandle(reading.operation, free: git_odb_free) { git_repository_odb($0, repository) }
        var sum = 0
        for delta in deltas where delta.old == nil || delta.new == nil {
            guard var id = (delta.old ?? delta.new)?.id else { continue }
            var (length, type) = (0, GIT_OBJECT_ANY)
            guard git_odb_read_header(&length, &type, store.pointer, &id) == 0 else { continue }
            sum += min(length, Self.maximumRenameBytes + 1)
        }
        return sum
    }

    /// The largest size, in bytes, for which renames with changes are searched. That takes about 1 s.
    static let maximumRenameBytes = 128 << 20

    private static func deltas(of diff: borrowing GitHandle) -> [Delta] {
        (0..<git_diff_num_deltas(diff.pointer)).compactMap { index in
            guard let delta = git_diff_get_delta(diff.pointer, index)?.pointee else { return nil }
            func side(_ file: git_diff_file) -> (path: String, id: git_oid)? {
                let isFile = [GIT_FILEMODE_BLOB, GIT_FILEMODE_BLOB_EXECUTABLE].contains {
                    UInt32(file.mode) == UInt32($0.rawValue)
                }
                guard isFile, let path = file.path else { return nil }
                return (String(cString: path), file.id)
            }
            let old = delta.status == GIT_DELTA_ADDED ? nil : side(delta.old_file)
            let new = delta.status == GIT_DELTA_DELETED ? nil : side(delta.new_file)
            return old == nil && new == nil ? nil : Delta(old: old, new: new)
        }
    }

    /// Joins files that only have another name, in pairs in the order of their paths. Used if there are too many files.
    private static func joiningEqual(_ deltas: [Delta]) -> [Delta] {
        var came: [[UInt8]: [Int]] = [:]
        for (index, delta) in deltas.enumerated() {
            if delta.old == nil, let id = delta.new?.id { came[id.bytes, default: []].append(index) }
        }
        var joined = deltas
        var taken: Set<Int> = []
        for (index, delta) in deltas.enumerated() where delta.new == nil {
            guard let id = delta.old?.id.bytes, var places = came[id], !places.isEmpty else { continue }
            let place = places.removeFirst()
            came[id] = places
            joined[index].new = deltas[place].new
            taken.insert(place)
        }
        return joined.indices.filter { !taken.contains($0) }.map { joined[$0] }
    }
}
