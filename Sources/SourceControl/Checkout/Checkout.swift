import Basics
import CLibGit2
import Model

/// Changes a workspace to a commit, on the mirror's queue.
///
/// libgit2 only reads. Its own checkout follows a link that a job has put in place of a tracked directory, and writes outside of the workspace. No
/// file that a job could have written is opened as a repository or read as a rule.
///
/// The record of the workspace is in `state`, and consists of the following files:
/// - `record` (see `CheckoutRecord`), which is written last
/// - `pending`, the commit of the last checkout that began to write
/// - `index` and `git`
struct Checkout {
    let store: MirrorStore
    let repository: OpaquePointer
    let commit: CommitID
    let ref: RefName
    /// The path of the tree.
    let workspace: String
    /// The path of the record.
    let state: String
    let isClean: Bool
    /// The untracked entries of the root that are kept, whatever the commit's rules say.
    let kept: Set<[UInt8]>
    /// The submodules, whose files are written, too. Each mirror has its commit.
    let submodules: [Submodule]
    /// The server's branches for the job's `.git`.
    let upstream: UpstreamRefs
    /// Whether pointers of Git LFS are written as they are. If not, a pointer is an error.
    let acceptsPointers: Bool
    /// Checked before each file. An interrupted checkout leaves the same state as a killed one.
    let interruption: Interruption

    /// The most files in a workspace, including build products. With more, the workspace is emptied.
    static let maximumFiles = 10_000_000

    private var operation: String { "checkout of \(commit.abbreviated) (\(ref)) into \(workspace)" }

    func run() throws(SourceControlError) -> CheckoutReport {
        let reading = CommitReading(repository: repository, operation: operation)
        try interruption.check(reading.operation)
        let opened = try submodules.map { module throws(SourceControlError) in try OpenRepository(module.mirror.store) }
        let listing = try TreeListing(
            of: commit, reading: reading,
            modules: zip(submodules, opened).map { module, opened in
                .init(
                    path: Array(module.path.utf8), commit: module.commit,
                    reading: CommitReading(
                        repository: opened.pointer, operation: operation, module: module.mirror.store))
            }, interruption: interruption)
        return try withExtendedLifetime(opened) { () throws(SourceControlError) in try run(listing, reading) }
    }

    private func run(_ listing: TreeListing, _ reading: CommitReading) throws(SourceControlError) -> CheckoutReport {
        let memory = try files(operation) { () throws(FileError) in try Directory(creating: state, mode: 0o700) }
        let tree = try openTree()
        let attributes = Self.attributesDigest(of: listing, acceptsPointers: acceptsPointers)
        var record = try readRecord(memory)
        var before = try trackedPaths(record, pending: memory, reading: reading)
        var writer = TreeWriter(
            listing: listing,
            rules: TreeRules(of: listing, reading: reading, interruption: interruption), reading: reading,
            directory: tree)
        var report = CheckoutReport()
        var survey = WorkspaceSurvey()
        if !isClean, let known = record {
            do throws(FileError) {
                survey = try WorkspaceSurvey(
                    of: tree, listing: listing, record: known, isSameAttributes: known.attributes == attributes,
                    before: before, limit: Self.maximumFiles,
                    check: { () throws(SourceControlError) in try interruption.check(reading.operation) }
                ) { path, isDirectory throws(SourceControlError) in
                    if kept.contains(path) { return true }
                    return try writer.rules.isIgnored(path, isDirectory: isDirectory)
                }
            } catch {
                // There are unreadable directories, a link was put in a directory's place meanwhile, or there are too many files. The workspace is
                // emptied instead.
                record = nil
            }
        }
        if isClean || record == nil {
            // An interrupted survey is no reason to remove the build products.
            try interruption.check(reading.operation)
            // The record is removed first: if emptying is interrupted, the next checkout must not rely on it.
            try files(operation) { () throws(FileError) in
                try memory.remove("record")
                try tree.removeContents()
            }
            (survey, before, report.isFresh) = (WorkspaceSurvey(), [], true)
        }
        report.removed = survey.removed
        try write(&writer, tree, survey, attributes, memory, before: record, &report)
        return report
    }

    private func write(
        _ writer: inout TreeWriter, _ tree: Directory, _ survey: WorkspaceSurvey, _ attributes: [UInt8],
        _ memory: Directory, before: CheckoutRecord?, _ report: inout CheckoutReport
    ) throws(SourceControlError) {
        let operation = operation
        var record = CheckoutRecord()
        record.attributes = attributes
        record.commit = commit.description
        record.entries = survey.unchanged
        report.unchanged = survey.unchanged.count
        if survey.unchanged.count < writer.listing.order.count { try begin(memory) }
        for path in writer.listing.order where survey.unchanged[path] == nil {
            try interruption.check(operation)
            guard let entry = writer.listing.entries[path] else { continue }
            if entry.kind == .submodule {
                report.submodules.append(String(decoding: path, as: UTF8.self))
                _ = try writer.write([], to: path, entry, isNew: report.isFresh)
                continue
            }
            let content = try writer.content(of: path, entry)
            if !acceptsPointers { try refusePointer(content, at: path, entry, writer.rules) }
            if let status = survey.doubtful[path], isSame(content, at: path, in: tree, entry, status) {
                // Only its times have changed. If it is not written, an incremental build does not compile it again.
                report.unchanged += 1
                record.entries[path] = CheckoutRecord.Entry(entry, status)
                continue
            }
            let status = try writer.write(content, to: path, entry, isNew: report.isFresh)
            report.written += 1
            if let status { record.entries[path] = CheckoutRecord.Entry(entry, status) }
        }
        report.files = CheckedOutFiles(record)
        let isSame = !report.isFresh && record == before
        try WorkspaceGit(
            operation: operation, store: store, repository: repository, commit: commit, ref: ref, tree: tree,
            memory: memory, kept: kept, upstream: upstream
        ).write(record, links: writer.listing.links, isSame: isSame)
        guard !isSame else { return }
        let bytes = record.bytes
        // It is not synchronized, like all files of a workspace. After an unclean stop of the machine the record is discarded
        // (docs/internals/decisions/0057).
        try files(operation) { () throws(FileError) in try memory.write("record", bytes: bytes, mode: 0o600) }
    }

    /// Records the commit before its first file is written. It identifies the files that an interrupted checkout has written, even those that the
    /// rules ignore.
    private func begin(_ memory: Directory) throws(SourceControlError) {
        try files(operation) { () throws(FileError) in
            try AtomicFile.write(Array("\(commit)\n".utf8), to: memory.path + "/pending", mode: 0o600, surviving: .kill)
        }
    }

    /// Whether a file or link already has the content that is to be written.
    private func isSame(
        _ content: [UInt8], at path: [UInt8], in tree: Directory, _ entry: TreeListing.Entry, _ status: FileStatus
    ) -> Bool {
        guard status.size == Int64(content.count) else { return false }
        // An unreadable entry is written again.
        switch entry.kind {
        case .link: return status.kind == .link && (try? tree.linkTarget(path)) == content
        case .file, .executable:
            guard status.kind == .file, status.links == 1, status.isExecutable == (entry.kind == .executable),
                status.mode & 0o600 == 0o600
            else { return false }
            return (try? tree.read(path, limit: content.count)) == content
        case .submodule: return status.kind == .directory
        }
    }

    /// Checks for a pointer of Git LFS.
    /// - Throws: `unsupported` for a pointer. A build with the pointer in place of the file would be judged for a file that is not in the repository.
    private func refusePointer(
        _ content: [UInt8], at path: [UInt8], _ entry: TreeListing.Entry, _ rules: TreeRules
    ) throws(SourceControlError) {
        guard entry.kind != .link, content.count <= Self.maximumPointer, content.starts(with: Self.pointerStart),
            try rules.conversion(of: path).filter == "lfs"
        else { return }
        throw SourceControlError(
            code: .unsupported, operation: operation,
            message:
                "\"\(String(decoding: path, as: UTF8.self))\" is a pointer of Git LFS, whose files Martlet does not "
                + "fetch; write `lfs: false` in the bot file to build with the pointers in their place")
    }

    /// The largest size of a pointer in bytes, and its beginning (github.com/git-lfs/git-lfs, docs/spec.md: a pointer is less than 1024 bytes and
    /// begins with its version).
    private static let maximumPointer = 1024
    private static let pointerStart = Array("version https://git-lfs.github.com/spec/".utf8)

    // MARK: What was before

    /// Opens the tree's directory. If a job has put a link or file in its place, replaces that by a new directory.
    private func openTree() throws(SourceControlError) -> Directory {
        let end = workspace.lastIndex(of: "/") ?? workspace.startIndex
        let (parent, name) = (String(workspace[..<end]), String(workspace[workspace.index(after: end)...]))
        return try files(operation) { () throws(FileError) in
            let above = try Directory(creating: parent)
            if let status = try above.status(name), status.kind != .directory { try above.remove(name) }
            try above.makeDirectories(name)
            return try above.directory(name)
        }
    }

    private func readRecord(_ memory: Directory) throws(SourceControlError) -> CheckoutRecord? {
        try files(operation) { () throws(FileError) in
            guard try memory.status("record") != nil else { return nil }
            return CheckoutRecord(try memory.read("record", limit: CheckoutRecord.maximumSize))
        }
    }

    /// Returns the paths that earlier checkouts may have written, including an interrupted one. They are removed even if the rules ignore them.
    private func trackedPaths(
        _ record: CheckoutRecord?, pending memory: Directory, reading: CommitReading
    ) throws(SourceControlError) -> Set<[UInt8]> {
        var paths = Set(record?.entries.keys.map(\.self) ?? [])
        let text = try files(operation) { () throws(FileError) -> [UInt8] in
            guard try memory.status("pending") != nil else { return [] }
            return try memory.read("pending", limit: 100)
        }
        let line = String(decoding: text, as: UTF8.self).split(separator: "\n").first ?? ""
        // The paths of a commit that is no longer here are unknown; then only the rules decide.
        if let commit = CommitID(line), commit.description != record?.commit,
            let listing = try? TreeListing(of: commit, reading: reading)
        {
            paths.formUnion(listing.order)
        }
        return paths
    }

    /// Returns a digest that changes if any `.gitattributes` does, because the same blob may then have to be written as other bytes. It also changes
    /// with `acceptsPointers`, so that pointers are checked again.
    private static func attributesDigest(of listing: TreeListing, acceptsPointers: Bool) -> [UInt8] {
        // An earlier version may have written other bytes for the same attributes.
        var bytes: [UInt8] = Array("2".utf8) + (acceptsPointers ? [0] : [])
        for path in listing.order.filter({ $0.suffix(14).elementsEqual(".gitattributes".utf8) }).sorted(by: {
            $0.lexicographicallyPrecedes($1)
        }) {
            bytes += path + [0] + (listing.entries[path]?.id.bytes ?? [])
        }
        var id = git_oid()
        git_odb_hash(&id, bytes, bytes.count, GIT_OBJECT_BLOB)
        return id.bytes
    }
}

/// The results of a checkout.
package struct CheckoutReport: Sendable {
    /// The number of files and links that were written because they were missing or differed.
    package var written = 0
    /// The number of files, links and directories that were removed because they are no longer tracked, or are untracked and not ignored.
    package var removed = 0
    /// The number of tracked files and links that were left as they were, with their times.
    package var unchanged = 0
    /// Whether the workspace was emptied first, because that was requested, because it was never checked out before, or because its record was
    /// unreadable.
    package var isFresh = false
    /// The commit's files in the workspace.
    package var files = CheckedOutFiles(CheckoutRecord())
    /// The submodules of which only the empty directory was created.
    package var submodules: [String] = []

    package init() {}
}

/// The files and links that a checkout has written, or left as they were because they equal the commit's.
package struct CheckedOutFiles: Sendable {
    private let entries: [[UInt8]: CheckoutRecord.Entry]

    init(_ record: CheckoutRecord) { entries = record.entries }

    /// Whether a path, relative to the root, is one of them.
    package func contains(_ path: [UInt8]) -> Bool { entries[path] != nil }

    /// The paths relative to the root, including those of submodules, in no particular order.
    package var paths: some Collection<[UInt8]> { entries.keys }
}
