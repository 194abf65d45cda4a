import CLibGit2
import Glibc
package import Model

/// Reads commits and trees of an open repository, on its queue. It follows no link and never leaves the object store.
struct CommitReading {
    let repository: OpaquePointer
    /// The operation, for error messages.
    let operation: String
    /// The mirror, if it is a submodule's and not the one whose queue this is; `nil` otherwise. It is marked as damaged if objects are missing.
    var module: MirrorStore?

    func commit(_ id: CommitID) throws(SourceControlError) -> GitHandle {
        var oid = try git_oid(id)
        do throws(SourceControlError) {
            return try GitHandle(operation, free: git_commit_free) { git_commit_lookup($0, repository, &oid) }
        } catch {
            guard (error.underlying as? GitFailure)?.code == GIT_ENOTFOUND.rawValue else {
                throw Self.unparsed(error)
            }
            throw Mirror.missing(id, operation: operation)
        }
    }

    /// Converts an error about a commit that cannot be parsed. For libgit2, a commit without a valid author has the class INVALID, which it also uses
    /// for many other errors.
    static func unparsed(_ error: SourceControlError) -> SourceControlError {
        guard (error.underlying as? GitFailure)?.errorClass == Int32(GIT_ERROR_INVALID.rawValue) else { return error }
        return SourceControlError(
            code: .treeRefused, operation: error.operation, message: error.message, underlying: error.underlying)
    }

    func rootTree(of commit: CommitID) throws(SourceControlError) -> GitHandle {
        let commit = try self.commit(commit)
        return try damageIfMissing { () throws(SourceControlError) in
            try GitHandle(operation, free: git_tree_free) { git_commit_tree($0, commit.pointer) }
        }
    }

    func tree(_ id: git_oid) throws(SourceControlError) -> GitHandle {
        var id = id
        return try damageIfMissing { () throws(SourceControlError) in
            try GitHandle(operation, free: git_tree_free) { git_tree_lookup($0, repository, &id) }
        }
    }

    /// Returns a blob.
    /// - Throws: `tooLarge` if the blob has more than `limit` bytes. Its content is not read then.
    func blob(_ id: git_oid, limit: Int, path: String) throws(SourceControlError) -> GitHandle {
        var id = id
        let store = try GitHandle(operation, free: git_odb_free) { git_repository_odb($0, repository) }
        var (size, kind) = (0, GIT_OBJECT_ANY)
        return try damageIfMissing { () throws(SourceControlError) in
            try git(operation) { git_odb_read_header(&size, &kind, store.pointer, &id) }
            guard size <= limit else {
                throw SourceControlError(
                    code: .tooLarge, operation: operation,
                    message: "\(path) has \(size) bytes; at most \(limit) are allowed")
            }
            return try GitHandle(operation, free: git_blob_free) { git_blob_lookup($0, repository, &id) }
        }
    }

    /// Runs a lookup of an object that a commit refers to. If it is missing, the mirror is damaged.
    private func damageIfMissing(_ body: () throws(SourceControlError) -> GitHandle) throws(SourceControlError)
        -> GitHandle
    {
        do throws(SourceControlError) {
            return try body()
        } catch {
            let isMissing = (error.underlying as? GitFailure)?.code == GIT_ENOTFOUND.rawValue
            guard isMissing || error.code == .mirrorDamaged else { throw error }
            try module?.markDamaged()
            throw SourceControlError(
                code: module == nil ? .mirrorDamaged : .submoduleDamaged, operation: operation,
                message: "\(error.message); the next fetch repairs the mirror", underlying: error)
        }
    }

    /// Returns a blob's bytes; `nil` if it is missing, no blob, or larger than `limit` bytes.
    func content(_ id: git_oid, limit: Int) -> [UInt8]? {
        do throws(SourceControlError) {
            return Self.bytes(of: try blob(id, limit: limit, path: ""))
        } catch {
            return nil
        }
    }

    static func bytes(of blob: borrowing GitHandle) -> [UInt8] {
        let size = Int(git_blob_rawsize(blob.pointer))
        guard size > 0, let start = git_blob_rawcontent(blob.pointer) else { return [] }
        return Array(UnsafeRawBufferPointer(start: start, count: size))
    }

    // MARK: Details

    func details(of id: CommitID) throws(SourceControlError) -> CommitDetails {
        let commit = try self.commit(id)
        func text(_ pointer: UnsafePointer<CChar>?) -> String { pointer.map { String(cString: $0) } ?? "" }
        var parents: [CommitID] = []
        for index in 0..<git_commit_parentcount(commit.pointer) {
            if let parent = git_commit_parent_id(commit.pointer, index)?.pointee.commitID { parents.append(parent) }
        }
        let author = git_commit_author(commit.pointer)?.pointee
        let message = text(git_commit_message(commit.pointer))
        return CommitDetails(
            id: id, tree: git_commit_tree_id(commit.pointer)?.pointee.hexadecimal ?? "", parents: parents,
            authorName: text(author?.name), authorEmail: text(author?.email),
            authoredAt: Timestamp(secondsSinceEpoch: Self.plausible(author?.when.time ?? 0)),
            committedAt: Timestamp(secondsSinceEpoch: Self.plausible(git_commit_time(commit.pointer))),
            subject: String(text(git_commit_summary(commit.pointer)).prefix(1000)),
            message: String(decoding: message.utf8.prefix(CommitDetails.maximumMessageLength), as: UTF8.self))
    }

    /// Limits a time to a valid range, because commits can claim any time. Milliseconds of the year 9999 still fit everywhere.
    private static func plausible(_ seconds: Int64) -> Int64 { min(max(seconds, -62_135_596_800), 253_402_300_799) }

    /// Returns the commits of `to`'s history that are not in `from`'s, newest first, at most `limit`.
    func commits(from: CommitID?, to: CommitID, limit: Int) throws(SourceControlError) -> [CommitDetails] {
        let walk = try GitHandle(operation, free: git_revwalk_free) { git_revwalk_new($0, repository) }
        // With the order by time alone, the newest commits come without reading the whole history first.
        try git(operation) { git_revwalk_sorting(walk.pointer, GIT_SORT_TIME.rawValue) }
        _ = try commit(to)
        var start = try git_oid(to)
        try git(operation) { git_revwalk_push(walk.pointer, &start) }
        if let from {
            var end = try git_oid(from)
            let result = git_revwalk_hide(walk.pointer, &end)
            if result == GIT_ENOTFOUND.rawValue { return [try details(of: to)] }
            try git(operation) { result }
        }
        var found: [CommitDetails] = []
        var next = git_oid()
        while found.count < limit {
            let result = git_revwalk_next(&next, walk.pointer)
            if result == GIT_ITEROVER.rawValue { break }
            try git(operation) { result }
            if let id = next.commitID { found.append(try details(of: id)) }
        }
        return found
    }

    // MARK: Trees

    /// An entry of a tree.
    struct Entry {
        let name: [UInt8]
        let mode: UInt32
        let id: git_oid
    }

    /// Returns the id of a tree. The handle is borrowed so that the tree lives until its id has been read; the `pointer` of a temporary outlives it.
    static func id(of tree: borrowing GitHandle) -> git_oid { git_tree_id(tree.pointer)?.pointee ?? git_oid() }

    static func entries(of tree: borrowing GitHandle) -> [Entry] {
        (0..<git_tree_entrycount(tree.pointer)).compactMap { index in
            guard let entry = git_tree_entry_byindex(tree.pointer, index), let name = git_tree_entry_name(entry),
                let id = git_tree_entry_id(entry)
            else { return nil }
            let bytes = UnsafeRawBufferPointer(start: name, count: strlen(name))
            return Entry(name: Array(bytes), mode: UInt32(git_tree_entry_filemode_raw(entry).rawValue), id: id.pointee)
        }
    }

    /// Returns the names in a directory; `nil` if the path does not exist or is no directory.
    func names(in path: String, at commit: CommitID) throws(SourceControlError) -> [String]? {
        var id = Self.id(of: try rootTree(of: commit))
        for component in path.split(separator: "/", omittingEmptySubsequences: false) {
            let entries = Self.entries(of: try tree(id))
            guard let entry = entries.first(where: { $0.name.elementsEqual(component.utf8) }),
                entry.mode & S_IFMT == S_IFDIR
            else { return nil }
            id = entry.id
        }
        return Self.entries(of: try tree(id)).map { String(decoding: $0.name, as: UTF8.self) }
    }

    /// Returns the facts that determine the kinds of project of a commit. Files that are too large are left out.
    /// - Throws: The first other error.
    func project(
        of commit: CommitID, rootEntries: [String], reader: ProjectTree.Reader
    ) throws(SourceControlError) -> ProjectTree {
        var failure: SourceControlError?
        func tried<Value>(_ body: () throws(SourceControlError) -> Value?) -> Value? {
            do throws(SourceControlError) {
                return try body()
            } catch {
                if error.code != .tooLarge { failure = failure ?? error }
                return nil
            }
        }
        let tree = reader(rootEntries) { path in
            tried { () throws(SourceControlError) in try names(in: path, at: commit) }
        } _: { path, limit in
            tried { () throws(SourceControlError) in try file(path, at: commit, limit: limit) }
        }
        if let failure { throw failure }
        return tree
    }

    /// Returns the bytes of a regular file. `nil` if the path does not exist, or is a directory, a link or a submodule.
    func file(_ path: String, at commit: CommitID, limit: Int) throws(SourceControlError) -> [UInt8]? {
        let components = path.split(separator: "/", omittingEmptySubsequences: false)
        var id = Self.id(of: try rootTree(of: commit))
        for (index, component) in components.enumerated() {
            let tree = try self.tree(id)
            guard let entry = Self.entries(of: tree).first(where: { $0.name.elementsEqual(component.utf8) }) else {
                return nil
            }
            id = entry.id
            let isLast = index == components.count - 1
            guard entry.mode & S_IFMT == (isLast ? S_IFREG : S_IFDIR) else { return nil }
        }
        return Self.bytes(of: try blob(id, limit: limit, path: path))
    }
}

/// The contents of a commit object. Names, times and texts are the author's claims.
package struct CommitDetails: Sendable, Hashable {
    /// The longest message that is kept, in bytes. The rest is cut off.
    package static let maximumMessageLength = 64 * 1024

    package let id: CommitID
    /// The id of the root tree. Commits with the same id have the same files.
    package let tree: String
    package let parents: [CommitID]
    package let authorName: String
    package let authorEmail: String
    package let authoredAt: Timestamp
    package let committedAt: Timestamp
    /// The message's first paragraph on one line.
    package let subject: String
    package let message: String
}

/// The contents of a commit that are needed to prepare an integration.
package struct CommitContent: Sendable, Hashable {
    package let details: CommitDetails
    /// The names in the root of its tree. Names that are not UTF-8 are repaired.
    package let rootEntries: [String]
    /// The requested file; `nil` if there is none, or if it is not a regular file.
    package let file: [UInt8]?
    /// The facts that determine its kinds of project; `nil` if they were not requested.
    package var project: ProjectTree?
}
