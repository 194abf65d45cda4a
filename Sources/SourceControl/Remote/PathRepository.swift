import Basics
import CLibGit2
import Glibc
import Model

/// A repository on this machine that is read in this process. A scan takes 0.3 ms instead of two processes, and reading a commit's few objects takes
/// less time than starting git.
///
/// It only handles plain repositories whose files belong to this account or root, as git itself trusts no other owner (`safe.directory`). libgit2
/// maps packs into memory, and truncating a mapped file crashes the process. Any unusual repository is left to git.
struct PathRepository {
    private let directory: Directory
    private let operation: String

    /// Returns `nil` for a repository that git must read or refuse.
    init?(_ path: String, operation: String) {
        guard let directory = (try? Directory(opening: path + "/.git")) ?? (try? Directory(opening: path)),
            Self.isPlain(directory)
        else { return nil }
        (self.directory, self.operation) = (directory, operation)
    }

    /// Opens the repository for reading its objects.
    func open() throws(SourceControlError) -> GitHandle {
        try LibGit2.start()
        let repository = try GitHandle(operation, free: git_repository_free) {
            git_repository_open_bare($0, directory.path)
        }
        // None of its settings changes the contents of its objects, and libgit2 checks the file for each value that it reads.
        let configuration = try GitHandle(operation, free: git_config_free) { git_config_new($0) }
        try git(operation) { git_repository_set_config(repository.pointer, configuration.pointer) }
        return repository
    }

    /// The files and directories that each repository has.
    private static let parts: [(name: String, kind: mode_t)] = [
        (".", S_IFDIR), ("HEAD", S_IFREG), ("config", S_IFREG), ("objects", S_IFDIR), ("refs", S_IFDIR),
    ]

    /// Whether a repository has no borrowed, missing or hidden objects and refs, no configuration elsewhere, and an owner whom git trusts.
    private static func isPlain(_ directory: Directory) -> Bool {
        do throws(FileError) {
            for (name, kind) in parts {
                guard let found = try status(of: name, in: directory), isTrusted(found), found.st_mode & S_IFMT == kind
                else { return false }
            }
            for name in ["shallow", "commondir", "info/grafts", "objects/info/alternates"] {
                guard try status(of: name, in: directory) == nil else { return false }
            }
            if let packs = try status(of: "objects/pack", in: directory) {
                // No other account can add a pack between this check and the reading.
                guard isTrusted(packs), packs.st_mode & 0o022 == 0, packs.st_mode & S_IFMT == S_IFDIR else {
                    return false
                }
                for name in try directory.entries("objects/pack").map(\.name) {
                    guard !name.hasSuffix(".promisor") else { return false }
                    if let found = try status(of: "objects/pack/" + name, in: directory), !isTrusted(found) {
                        return false
                    }
                }
            }
            let configuration = String(decoding: try directory.read("config", limit: 1 << 20), as: UTF8.self)
                .lowercased()
            // These are transfer.hideRefs and similar settings, include and includeIf, and special formats for refs or objects.
            return !["hiderefs", "include", "extensions"].contains { configuration.contains($0) }
        } catch {
            return false
        }
    }

    /// Returns the status of a file; `nil` if it does not exist. It takes one call, whereas `Directory.status` takes three. A link at the end is not
    /// followed; the directories above were checked before.
    private static func status(of name: String, in directory: Directory) throws(FileError) -> stat? {
        var found = stat()
        if fstatat(directory.descriptor, name, &found, AT_SYMLINK_NOFOLLOW) == 0 { return found }
        if errno == ENOENT || errno == ENOTDIR { return nil }
        throw FileError(operation: "stat", path: directory.path + "/" + name, errno: errno)
    }

    private static func isTrusted(_ status: stat) -> Bool { [0, geteuid()].contains(status.st_uid) }

    /// The largest size of a tag, in bytes. The largest ones of repositories have some kilobytes.
    private static let maximumTag = 1 << 20

    /// Returns its branches and tags, and those of `others` that exist, as `git ls-remote --symref` lists them.
    /// - Returns: `nil` if a file does not have the form that git writes.
    /// - Throws: `tooLarge` for more than `limit` refs.
    func list(
        limit: Int, others: Set<RefName> = []
    ) throws(SourceControlError) -> RemoteSession.Advertisement? {
        let names = others.filter(RemoteSession.isValid).map { Array($0.description.utf8) }
        guard let found = try? PathRefs(directory, limit: limit, others: Set(names)) else { return nil }
        var result = RemoteSession.Advertisement(others: others)
        for (name, ref) in found.refs {
            try result.add(name, id: ref.id, limit: limit, operation)
            if let peeled = ref.peeled { try result.add(name + Self.peeled, id: peeled, limit: limit, operation) }
        }
        guard let peeled = try? peel(found) else { return nil }
        for (name, commit) in peeled { try result.add(name + Self.peeled, id: commit, limit: limit, operation) }
        result.defaultBranch = found.head.flatMap { result.refs[$0] == nil ? nil : $0 }
        return result
    }

    private static let peeled = Array("^{}".utf8)

    /// Returns the targets of annotated tags for which `packed-refs` does not state them.
    private func peel(_ found: PathRefs) throws(SourceControlError) -> [(name: [UInt8], commit: String)] {
        guard !found.unpeeled.isEmpty else { return [] }
        let repository = try open()
        let source = repository.pointer
        let objects = try GitHandle(operation, free: git_odb_free) { git_repository_odb($0, source) }
        let store = objects.pointer
        var result: [(name: [UInt8], commit: String)] = []
        for name in found.unpeeled {
            guard let ref = found.refs[name], var id = git_oid(hexadecimal: ref.id) else { continue }
            var (size, kind) = (0, GIT_OBJECT_INVALID)
            try git(operation) { git_odb_read_header(&size, &kind, store, &id) }
            guard kind == GIT_OBJECT_TAG else { continue }
            guard (0...Self.maximumTag).contains(size) else {
                throw SourceControlError(code: .tooLarge, operation: operation, message: "a tag of \(size) bytes")
            }
            result.append((name, try end(of: id, in: source)))
        }
        return result
    }

    /// Returns the id of the object that a tag leads to, through further tags if necessary.
    private func end(of tag: git_oid, in source: OpaquePointer) throws(SourceControlError) -> String {
        var id = tag
        let tag = try GitHandle(operation, free: git_tag_free) { git_tag_lookup($0, source, &id) }
        let pointer = tag.pointer
        let end = try GitHandle(operation, free: git_object_free) { git_tag_peel($0, pointer) }
        guard let found = git_object_id(end.pointer) else { return id.hexadecimal }
        return found.pointee.hexadecimal
    }
}
