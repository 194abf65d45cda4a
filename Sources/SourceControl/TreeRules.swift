import Basics
import CLibGit2
import Glibc

/// The ignore rules and attributes of a commit, from its own `.gitignore` and `.gitattributes` files.
///
/// libgit2 reads such files from a working directory, which here would be one that a job could have written. So they are
/// written alone into a directory of ours, and a second handle of the mirror takes that for its working directory. All
/// that is done when something is asked first: a checkout that changes nothing asks nothing.
final class TreeRules {
    /// Longest rule file that counts, in bytes; a longer one is treated as absent.
    static let maximumRuleFile = 1 << 20

    private let listing: TreeListing
    private let reading: CommitReading
    private let store: MirrorStore
    private let directory: Directory
    private var handle: GitHandle?
    private var opened: OpaquePointer?
    private var operation: String { reading.operation }

    /// - Parameter directory: Ours; emptied before it is filled.
    init(of listing: TreeListing, reading: CommitReading, store: MirrorStore, directory: Directory) {
        self.listing = listing
        self.reading = reading
        self.store = store
        self.directory = directory
    }

    /// The repository with the rules as its working directory.
    private func repository() throws(SourceControlError) -> OpaquePointer {
        if let opened { return opened }
        try files(operation) { [directory] () throws(FileError) in try directory.removeContents() }
        for path in listing.order {
            guard let entry = listing.entries[path], entry.kind == .file || entry.kind == .executable else { continue }
            let name = path[(path.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0)...]
            guard name.elementsEqual(".gitignore".utf8) || name.elementsEqual(".gitattributes".utf8) else { continue }
            let bytes: [UInt8]
            do throws(SourceControlError) {
                bytes = CommitReading.bytes(
                    of: try listing.reading(of: entry).blob(
                        entry.id, limit: Self.maximumRuleFile, path: String(decoding: path, as: UTF8.self)))
            } catch {
                if error.code == .tooLarge { continue }
                throw error
            }
            try files(operation) { () throws(FileError) in
                if let slash = path.lastIndex(of: UInt8(ascii: "/")) {
                    try directory.makeDirectories(Array(path[..<slash]))
                }
                try directory.write(path, bytes: bytes)
            }
        }
        let repository = try store.opened()
        try git(operation) { git_repository_set_workdir(repository.pointer, directory.path, 0) }
        let pointer = repository.pointer
        handle = consume repository
        opened = pointer
        return pointer
    }

    /// Whether the commit's rules ignore a path.
    func isIgnored(_ path: [UInt8], isDirectory: Bool) throws(SourceControlError) -> Bool {
        let repository = try repository()
        var ignored: Int32 = 0
        // The trailing slash says that it is a directory: nothing is looked up on disk for it.
        let text = path + (isDirectory ? [UInt8(ascii: "/"), 0] : [0])
        var result: Int32 = 0
        text.withUnsafeBytes { bytes in
            result = git_ignore_path_is_ignored(
                &ignored, repository, bytes.bindMemory(to: CChar.self).baseAddress)
        }
        try git(operation) { result }
        return ignored == 1
    }

    /// The program that the commit's attributes name for a path (`filter=`); nothing when they name none.
    func filter(of path: [UInt8]) throws(SourceControlError) -> String? {
        let repository = try repository()
        var value: UnsafePointer<CChar>?
        var result: Int32 = 0
        (path + [0]).withUnsafeBytes { bytes in
            result = git_attr_get(
                &value, repository, UInt32(GIT_ATTR_CHECK_NO_SYSTEM), bytes.bindMemory(to: CChar.self).baseAddress,
                "filter")
        }
        try git(operation) { result }
        return git_attr_value(value) == GIT_ATTR_VALUE_STRING ? value.map { String(cString: $0) } : nil
    }

    /// A blob as the working directory gets it: line ends and `$Id$` as the attributes say. Filters that would run a
    /// program (`filter=`) are unknown to libgit2 and change nothing.
    func filtered(_ id: git_oid, path: [UInt8], limit: Int, reading: CommitReading) throws(SourceControlError)
        -> [UInt8]
    {
        let repository = try repository()
        let blob = try reading.blob(id, limit: limit, path: String(decoding: path, as: UTF8.self))
        var options = git_filter_options()
        options.version = UInt32(GIT_FILTER_OPTIONS_VERSION)
        options.flags = GIT_FILTER_NO_SYSTEM_ATTRIBUTES.rawValue | GIT_FILTER_ALLOW_UNSAFE.rawValue
        var list: OpaquePointer?
        var result: Int32 = 0
        (path + [0]).withUnsafeBytes { bytes in
            result = git_filter_list_load_ext(
                &list, repository, blob.pointer, bytes.bindMemory(to: CChar.self).baseAddress,
                GIT_FILTER_TO_WORKTREE, &options)
        }
        try git(operation) { result }
        guard let list else { return CommitReading.bytes(of: blob) }
        defer { git_filter_list_free(list) }
        var buffer = git_buf()
        defer { git_buf_dispose(&buffer) }
        try git(operation) { git_filter_list_apply_to_blob(&buffer, list, blob.pointer) }
        guard buffer.size > 0, let start = buffer.ptr else { return [] }
        return Array(UnsafeRawBufferPointer(start: start, count: buffer.size))
    }
}
