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
    /// By source.
    private var opened: [Int: OpenRepository] = [:]
    private var spent = Duration.zero
    private var pattern = RulePattern(longest: .init())
    private var operation: String { reading.operation }

    /// - Parameter directory: Ours; emptied before it is filled.
    init(of listing: TreeListing, reading: CommitReading, store: MirrorStore, directory: Directory) {
        self.listing = listing
        self.reading = reading
        self.store = store
        self.directory = directory
    }

    /// The repository with the rules of one of the listing's sources as its working directory.
    private func repository(_ source: Int) throws(SourceControlError) -> OpaquePointer {
        if opened.isEmpty { try writeRules() }
        if let opened = opened[source] { return opened.pointer }
        let path = "\(directory.path)/\(source)"
        let (repository, operation) = (try OpenRepository(store), operation)
        try files(operation) { [directory] () throws(FileError) in try directory.makeDirectories("\(source)") }
        try git(operation) { git_repository_set_workdir(repository.pointer, path, 0) }
        opened[source] = repository
        return repository.pointer
    }

    private func writeRules() throws(SourceControlError) {
        try files(operation) { [directory] () throws(FileError) in try directory.removeContents() }
        pattern = RulePattern(longest: RulePattern.longest(in: listing.order))
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
            if let line = pattern.add(bytes) {
                throw SourceControlError(
                    code: .treeRefused, operation: operation,
                    message:
                        "\(String(decoding: path, as: UTF8.self)):\(line): so many wildcards in the rules take too long to "
                        + "match with names as long as here; write them with fewer")
            }
            let place = Array("\(entry.source)/".utf8) + path[listing.source(of: path).start...]
            try files(operation) { () throws(FileError) in
                if let slash = place.lastIndex(of: UInt8(ascii: "/")) {
                    try directory.makeDirectories(Array(place[..<slash]))
                }
                try directory.write(place, bytes: bytes)
            }
        }
    }

    /// Asks libgit2, which cannot be stopped: many questions together have a limit, one is bounded by `RulePattern`.
    private func ask(
        _ path: [UInt8], end: [UInt8], _ question: (OpaquePointer, UnsafePointer<CChar>?) -> Int32
    ) throws(SourceControlError) {
        let (source, start) = listing.source(of: path)
        let repository = try repository(source)
        let began = ContinuousClock.now
        var result: Int32 = 0
        (Array(path[start...]) + end).withUnsafeBytes { bytes in
            result = question(repository, bytes.bindMemory(to: CChar.self).baseAddress)
        }
        try git(operation) { result }
        spent += ContinuousClock.now - began
        guard spent <= Self.maximumTime else {
            throw SourceControlError(
                code: .treeRefused, operation: operation,
                message:
                    "its .gitignore and .gitattributes take more than \(Self.maximumTime) to match with its files; "
                    + "write them with fewer rules and wildcards")
        }
    }

    /// Of all questions of a checkout together. 20,000 files with 500 rules take about a second.
    static let maximumTime = Duration.seconds(60)

    /// Whether the commit's rules ignore a path. Of one that is so long that this would take too long, they do not.
    func isIgnored(_ path: [UInt8], isDirectory: Bool) throws(SourceControlError) -> Bool {
        let place = listing.source(of: path)
        _ = try repository(place.source)
        guard pattern.mayAsk(path[place.start...]) else { return false }
        var ignored: Int32 = 0
        // The trailing slash says that it is a directory: nothing is looked up on disk for it.
        try ask(path, end: isDirectory ? [UInt8(ascii: "/"), 0] : [0]) { repository, text in
            git_ignore_path_is_ignored(&ignored, repository, text)
        }
        return ignored == 1
    }

    /// The program that the commit's attributes name for a path (`filter=`); nothing when they name none.
    func filter(of path: [UInt8]) throws(SourceControlError) -> String? {
        var value: UnsafePointer<CChar>?
        try ask(path, end: [0]) { repository, text in
            git_attr_get(&value, repository, UInt32(GIT_ATTR_CHECK_NO_SYSTEM), text, "filter")
        }
        return git_attr_value(value) == GIT_ATTR_VALUE_STRING ? value.map { String(cString: $0) } : nil
    }

    /// A blob as the working directory gets it: line ends and `$Id$` as the attributes say. Filters that would run a
    /// program (`filter=`) are unknown to libgit2 and change nothing.
    func filtered(_ id: git_oid, path: [UInt8], limit: Int, reading: CommitReading) throws(SourceControlError)
        -> [UInt8]
    {
        let blob = try reading.blob(id, limit: limit, path: String(decoding: path, as: UTF8.self))
        var options = git_filter_options()
        options.version = UInt32(GIT_FILTER_OPTIONS_VERSION)
        options.flags = GIT_FILTER_NO_SYSTEM_ATTRIBUTES.rawValue | GIT_FILTER_ALLOW_UNSAFE.rawValue
        var list: OpaquePointer?
        try ask(path, end: [0]) { repository, text in
            git_filter_list_load_ext(&list, repository, blob.pointer, text, GIT_FILTER_TO_WORKTREE, &options)
        }
        guard let list else { return CommitReading.bytes(of: blob) }
        defer { git_filter_list_free(list) }
        var buffer = git_buf()
        defer { git_buf_dispose(&buffer) }
        try git(operation) { git_filter_list_apply_to_blob(&buffer, list, blob.pointer) }
        guard buffer.size > 0, let start = buffer.ptr else { return [] }
        return Array(UnsafeRawBufferPointer(start: start, count: buffer.size))
    }
}
