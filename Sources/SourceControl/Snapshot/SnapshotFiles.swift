import Basics
import CLibGit2
import Glibc

/// Turns the files of a working tree into blobs and a tree. Files that have not changed since the last snapshot, or since git read them, are not read
/// again.
struct SnapshotFiles {
    let root: String
    let operation: String
    /// The service's repository.
    let repository: OpaquePointer
    /// The service's object store, with the objects of the user's repository as an alternate.
    let objects: OpaquePointer
    let tracked: [[UInt8]: TreeRepository.Tracked]
    let attributes: AttributeRules
    /// Checks for a cancellation while paths are matched.
    let watch: RuleWatch
    /// The digest of all texts that determine how files are converted.
    let digest: [UInt8]
    let autoCRLF: TextConversion.AutoCRLF
    /// Whether the file system does not record executable files (`core.fileMode`).
    let ignoresModes: Bool

    /// The record of the previous snapshot, and the record of this one.
    private var before = CheckoutRecord()
    private var record = CheckoutRecord()
    private var entries: [[UInt8]: (mode: UInt32, id: git_oid)] = [:]
    /// The time in nanoseconds since 1970 before which changes must lie. A file that changed after it may change again with the same times.
    private let settled: Int64

    /// How old a change must be, in nanoseconds, so that no later change can leave the file with the same times. The resolution of present file
    /// systems is at most ten milliseconds; the clocks of file servers may be off by more.
    private static let age: Int64 = 1_000_000_000

    init(
        root: String, operation: String, repository: OpaquePointer, objects: OpaquePointer,
        tracked: [[UInt8]: TreeRepository.Tracked], attributes: AttributeRules, watch: RuleWatch,
        digest: [UInt8], autoCRLF: TextConversion.AutoCRLF, ignoresModes: Bool
    ) {
        (self.root, self.operation, self.repository, self.objects) = (root, operation, repository, objects)
        (self.tracked, self.attributes, self.watch, self.digest) = (tracked, attributes, watch, digest)
        (self.autoCRLF, self.ignoresModes) = (autoCRLF, ignoresModes)
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        settled = Int64(now.tv_sec) * 1_000_000_000 + Int64(now.tv_nsec) - Self.age
    }

    /// Reads the record of the previous snapshot. It is ignored if it was made under other attributes or is damaged.
    mutating func readRecord(_ name: String, of store: MirrorStore) throws(SourceControlError) {
        record.attributes = digest
        let bytes = try? Directory(opening: store.path).read(name, limit: CheckoutRecord.maximumSize)
        if let bytes, let known = CheckoutRecord(bytes), known.attributes == digest { before = known }
    }

    mutating func add(_ file: SnapshotWalk.Found) throws(SourceControlError) {
        let (path, status) = (file.path, file.status)
        let conversion = try conversion(of: path)
        var mode: UInt32 = status.kind == .link ? 0o120000 : status.mode & 0o100 != 0 ? 0o100755 : 0o100644
        let known = tracked[path]
        if ignoresModes, status.kind == .file {
            mode = known?.mode == 0o100755 ? 0o100755 : 0o100644
        }
        // The blob of a file that a program filters differs from the file on the disk.
        if let known, conversion.filter == nil, known.mode == mode, known.isUnchanged(status), isHere(known.id) {
            entries[path] = (mode, known.id)
            return
        }
        let kind: TreeListing.Kind = mode == 0o120000 ? .link : mode == 0o100755 ? .executable : .file
        if let entry = before.entries[path], entry.kind == kind, entry.matches(status), isHere(entry.id.id) {
            record.entries[path] = entry
            entries[path] = (mode, entry.id.id)
            return
        }
        // `nil` means that the file was removed meanwhile.
        guard let content = try content(of: path, status, conversion) else { return }
        var id = git_oid()
        let result = git_blob_create_from_buffer(&id, repository, content, content.count)
        // libgit2 1.5 reports no reason if the disk is full.
        let number = errno
        if result < 0, [ENOSPC, EDQUOT, EROFS].contains(number) {
            throw SourceControlError(
                code: .file, operation: operation,
                message:
                    "our copy of a file could not be written: \(String(cString: strerror(number))); make room there")
        }
        try git(operation) { result }
        entries[path] = (mode, id)
        if status.modified < settled, status.changed < settled {
            record.entries[path] = CheckoutRecord.Entry(TreeListing.Entry(kind: kind, id: id), status)
        }
    }

    mutating func addLink(_ path: [UInt8], _ commit: git_oid) { entries[path] = (0o160000, commit) }

    /// Whether the tree has a file at a path or beneath it.
    func hasFiles(beneath path: [UInt8]) -> Bool {
        let prefix = path + [UInt8(ascii: "/")]
        return entries.keys.contains { $0 == path || $0.starts(with: prefix) }
    }

    /// Writes the tree, and then the record of its files.
    func write(_ name: String, of store: MirrorStore) throws(SourceControlError) -> git_oid {
        let index = try GitHandle(operation, free: git_index_free) { git_index_new($0) }
        for (path, entry) in entries.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
            var added = git_index_entry()
            (added.mode, added.id) = (entry.mode, entry.id)
            var result: Int32 = 0
            (path + [0]).withUnsafeBytes { bytes in
                added.path = bytes.bindMemory(to: CChar.self).baseAddress
                result = git_index_add(index.pointer, &added)
            }
            try git(operation) { result }
        }
        var id = git_oid()
        try git(operation) { git_index_write_tree_to(&id, index.pointer, repository) }
        if record != before {
            let bytes = record.bytes
            try files(operation) { () throws(FileError) in
                try Directory(opening: store.path).write(name, bytes: bytes, mode: 0o600)
            }
        }
        return id
    }

    // MARK: A file

    private func isHere(_ id: git_oid) -> Bool {
        var id = id
        return git_odb_exists_ext(objects, &id, GIT_ODB_LOOKUP_NO_REFRESH.rawValue) == 1
    }

    private func conversion(of path: [UInt8]) throws(SourceControlError) -> TextConversion {
        if attributes.isEmpty, autoCRLF == .no { return TextConversion() }
        let values = try watch.ask { () throws(SourceControlError) in
            try attributes.values(of: path, watch)
        }
        do throws(TextConversion.Fault) {
            return try TextConversion(values, autoCRLF: autoCRLF)
        } catch {
            throw error.refusal(of: path, operation)
        }
    }

    private func content(
        of path: [UInt8], _ status: FileStatus, _ conversion: TextConversion
    ) throws(SourceControlError) -> [UInt8]? {
        let place = Array((root + "/").utf8) + path
        let limit = TreeWriter.maximumFile
        let bytes: [UInt8]
        do throws(FileError) {
            bytes = try status.kind == .link ? target(of: place) : WholeFile.read(place, limit: limit)
        } catch {
            if error.code == .notFound { return nil }
            throw SourceControlError(
                code: error.code == .tooLarge ? .tooLarge : .other, operation: operation,
                message:
                    "\"\(String(decoding: path, as: UTF8.self))\" cannot be read: \(error.message); make it readable, or write it "
                    + "into .gitignore", underlying: error)
        }
        guard status.kind == .file, !conversion.isIdentity else { return bytes }
        do throws(TextConversion.Fault) {
            return try conversion.toBlob(bytes) {
                guard let known = tracked[path] else { return nil }
                // A missing blob has no line ends to keep.
                let reading = CommitReading(repository: repository, operation: operation)
                return reading.content(known.id, limit: limit)
            }
        } catch {
            throw error.refusal(of: path, operation)
        }
    }

    private func target(of place: [UInt8]) throws(FileError) -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: Directory.maximumPathLength + 1)
        let count = (place + [0]).withUnsafeBytes { path in
            buffer.withUnsafeMutableBytes { target in
                guard let path = path.bindMemory(to: CChar.self).baseAddress,
                    let start = target.bindMemory(to: CChar.self).baseAddress
                else { return -1 }
                return readlink(path, start, target.count)
            }
        }
        guard count >= 0 else {
            throw FileError(operation: "readlink", path: String(decoding: place, as: UTF8.self), errno: errno)
        }
        return Array(buffer[..<count])
    }
}
