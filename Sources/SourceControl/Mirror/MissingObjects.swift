import CLibGit2
import Model

/// Copies the objects that a mirror lacks of some tips of a repository on this machine, as one small pack.
///
/// It walks from the tips down to the objects that the mirror has. A commit in the mirror has all of its objects there. libgit2 verifies the id of
/// each object when it reads it from the other repository.
struct MissingObjects {
    /// The most objects and bytes. Larger numbers are left to git, which copies packs without change.
    static let maximumCount = 2_000
    static let maximumBytes = 16 << 20

    private let source: OpaquePointer
    private let there: OpaquePointer
    private let here: OpaquePointer
    private let operation: String
    private var found: [git_oid] = []
    private var seen: Set<[UInt8]> = []
    private var bytes = 0
    private var waiting: [git_oid] = []

    /// - Parameters:
    ///   - there: The object store of `source`. Both must stay open as long as this is used.
    ///   - here: The object store of the mirror.
    init(of source: OpaquePointer, _ there: OpaquePointer, notIn here: OpaquePointer, operation: String) {
        (self.source, self.there, self.here, self.operation) = (source, there, here, operation)
    }

    private struct TooMuch: Error {}

    /// Copies the missing objects of the tips, and the tags that lead to commits that the mirror then has.
    /// - Parameter tags: Annotated tags, and the commits that they lead to.
    /// - Returns: False if there are too many or they cannot be read. Then no pack was written.
    mutating func fetch(_ tips: [git_oid], tags: [(tag: git_oid, commit: git_oid)], to directory: String) -> Bool {
        do {
            for tip in tips { want(tip) }
            try walk()
            for (tag, commit) in tags where isHere(commit) || seen.contains(commit.bytes) { want(tag) }
            try walk()
            if !found.isEmpty { try write(to: directory) }
            return true
        } catch {
            return false
        }
    }

    private func isHere(_ id: git_oid) -> Bool {
        var id = id
        return git_odb_exists_ext(here, &id, GIT_ODB_LOOKUP_NO_REFRESH.rawValue) == 1
    }

    private mutating func want(_ id: git_oid) {
        if !isHere(id), seen.insert(id.bytes).inserted { waiting.append(id) }
    }

    private mutating func walk() throws {
        while var id = waiting.popLast() {
            var (size, kind) = (0, GIT_OBJECT_INVALID)
            try git(operation) { git_odb_read_header(&size, &kind, there, &id) }
            // The size in a header may be any number.
            guard (0...Self.maximumBytes).contains(size) else { throw TooMuch() }
            bytes += size
            found.append(id)
            guard found.count <= Self.maximumCount, bytes <= Self.maximumBytes else { throw TooMuch() }
            switch kind {
            case GIT_OBJECT_COMMIT: try enter(commit: id)
            case GIT_OBJECT_TREE: try enter(tree: id)
            case GIT_OBJECT_TAG: try enter(tag: id)
            default: break
            }
        }
    }

    private mutating func enter(commit id: git_oid) throws {
        var id = id
        let commit = try GitHandle(operation, free: git_commit_free) { git_commit_lookup($0, source, &id) }
        if let tree = git_commit_tree_id(commit.pointer) { want(tree.pointee) }
        for index in 0..<git_commit_parentcount(commit.pointer) {
            if let parent = git_commit_parent_id(commit.pointer, index) { want(parent.pointee) }
        }
    }

    private mutating func enter(tree id: git_oid) throws {
        var id = id
        let tree = try GitHandle(operation, free: git_tree_free) { git_tree_lookup($0, source, &id) }
        for index in 0..<git_tree_entrycount(tree.pointer) {
            guard let entry = git_tree_entry_byindex(tree.pointer, index), let id = git_tree_entry_id(entry) else {
                continue
            }
            // A submodule's commit is in another repository.
            if git_tree_entry_type(entry) != GIT_OBJECT_COMMIT { want(id.pointee) }
            guard waiting.count <= Self.maximumCount else { throw TooMuch() }
        }
    }

    private mutating func enter(tag id: git_oid) throws {
        var id = id
        let tag = try GitHandle(operation, free: git_tag_free) { git_tag_lookup($0, source, &id) }
        if let target = git_tag_target_id(tag.pointer) { want(target.pointee) }
    }

    /// Writes the pack and its index. They are not synchronized; see `Mirrors.doubt`.
    private func write(to directory: String) throws {
        let builder = try GitHandle(operation, free: git_packbuilder_free) { git_packbuilder_new($0, source) }
        let pointer = builder.pointer
        git_packbuilder_set_threads(pointer, 1)
        for var id in found { try git(operation) { git_packbuilder_insert(pointer, &id, nil) } }
        try git(operation) { git_packbuilder_write(pointer, directory, 0, nil, nil) }
    }
}
