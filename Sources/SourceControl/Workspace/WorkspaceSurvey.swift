import Basics

/// Walks a workspace that a job could write, removes the files that do not belong to a commit, and returns the tracked ones.
struct WorkspaceSurvey {
    /// The tracked files that have not changed since they were recorded.
    private(set) var unchanged: [[UInt8]: CheckoutRecord.Entry] = [:]
    /// The tracked files whose status differs, so that their content must be compared.
    private(set) var doubtful: [[UInt8]: FileStatus] = [:]
    private(set) var removed = 0

    init() {}

    /// - Parameters:
    ///   - before: The paths that earlier checkouts may have written.
    ///   - check: Called for each entry. Throws to stop the walk.
    ///   - isIgnored: Whether the commit's own rules ignore a path.
    /// - Throws: `FileError`, also if a query of the rules fails or `check` throws.
    init(
        of tree: Directory, listing: TreeListing, record: CheckoutRecord, isSameAttributes: Bool, before: Set<[UInt8]>,
        limit: Int, check: () throws(SourceControlError) -> Void,
        isIgnored: (_ path: [UInt8], _ isDirectory: Bool) throws(SourceControlError) -> Bool
    ) throws(FileError) {
        var entersLast = false
        var untracked: [[UInt8]] = []
        unchanged.reserveCapacity(record.entries.count)
        do {
            try tree.walk(limit: limit, enters: { _ in entersLast }) { path, status in
                entersLast = false
                try check()
                // The service writes `.git` again each time.
                if path.elementsEqual(".git".utf8) { return }
                let isDirectory = status.kind == .directory
                if let entry = listing.entries[path] {
                    if entry.kind == .submodule, isDirectory {
                        entersLast = true
                    } else if status.kind == (entry.kind == .link ? .link : .file), entry.kind != .submodule {
                        let known = record.entries[path]
                        if isSameAttributes, let known, known.kind == entry.kind, known.id == ObjectKey(entry.id),
                            known.matches(status)
                        {
                            unchanged[path] = known
                        } else {
                            doubtful[path] = status
                        }
                    } else {
                        try remove(path, in: tree)
                    }
                } else if listing.directories.contains(path) {
                    // A link in place of a tracked directory is itself removed; its target is never accessed.
                    if isDirectory { entersLast = true } else { try remove(path, in: tree) }
                } else if before.contains(path), !isDirectory {
                    try remove(path, in: tree)
                } else if try !isIgnored(path, isDirectory) {
                    if isDirectory {
                        entersLast = true
                        untracked.append(path)
                    } else {
                        try remove(path, in: tree)
                    }
                }
            }
            // These paths were tracked before and are in a directory that is ignored now, so that it was not entered.
            for path in before where listing.entries[path] == nil && !listing.directories.contains(path) {
                if let status = try? tree.status(path), status.kind != .directory { try remove(path, in: tree) }
            }
            // The innermost directories come first. A directory with ignored files is kept.
            for path in untracked.reversed() where try tree.entries(path).isEmpty { try remove(path, in: tree) }
        } catch let error as FileError {
            throw error
        } catch {
            throw FileError(code: .other, operation: "look through", path: tree.path, message: "\(error)")
        }
    }

    private mutating func remove(_ path: [UInt8], in tree: Directory) throws(FileError) {
        try tree.remove(path)
        removed += 1
    }
}
