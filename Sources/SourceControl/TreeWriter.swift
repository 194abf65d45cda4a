import Basics
import CLibGit2

/// Writes a commit's files beneath a directory, each through `Basics.Directory`.
struct TreeWriter {
    /// Largest tracked file, in bytes. A blob is held in memory, twice when it is filtered.
    static let maximumFile = 1 << 30

    let listing: TreeListing
    let rules: TreeRules
    let reading: CommitReading
    let directory: Directory

    private var made: Set<[UInt8]> = []

    init(listing: TreeListing, rules: TreeRules, reading: CommitReading, directory: Directory) {
        self.listing = listing
        self.rules = rules
        self.reading = reading
        self.directory = directory
    }

    /// The bytes of a file as they are to be on disk, or the target of a link; nothing for a submodule.
    func content(of path: [UInt8], _ entry: TreeListing.Entry) throws(SourceControlError) -> [UInt8] {
        switch entry.kind {
        case .file, .executable:
            return try rules.filtered(
                entry.id, path: path, limit: Self.maximumFile, reading: listing.reading(of: entry))
        case .link:
            // PATH_MAX; the kernel takes no longer target.
            let target = CommitReading.bytes(
                of: try listing.reading(of: entry).blob(
                    entry.id, limit: Directory.maximumPathLength, path: String(decoding: path, as: UTF8.self)))
            guard !target.isEmpty, !target.contains(0) else {
                throw SourceControlError(
                    code: .treeRefused, operation: reading.operation,
                    message: "its tree holds \"\(String(decoding: path, as: UTF8.self))\": the link has no target")
            }
            return target
        case .submodule: return []
        }
    }

    /// Writes one file, link or empty directory of a submodule, with the directories above.
    /// - Parameter isNew: Whether the directory was empty: nothing is to be replaced.
    /// - Returns: Its status; nothing when it went away meanwhile.
    mutating func write(
        _ content: [UInt8], to path: [UInt8], _ entry: TreeListing.Entry, isNew: Bool
    ) throws(SourceControlError) -> FileStatus? {
        let directory = directory
        if let slash = path.lastIndex(of: UInt8(ascii: "/")) {
            let parent = Array(path[..<slash])
            if made.insert(parent).inserted {
                try files(reading.operation) { () throws(FileError) in try directory.makeDirectories(parent) }
            }
        }
        return try files(reading.operation) { () throws(FileError) in
            switch entry.kind {
            case .file, .executable:
                let mode: UInt16 = entry.kind == .executable ? 0o755 : 0o644
                if isNew { return try directory.create(path, bytes: content, mode: mode) }
                // The workspace is nobody's before the checkout has ended, and the next one writes again what a kill has left of it.
                return try directory.rewrite(path, bytes: content, mode: mode)
            case .link: try directory.makeLink(path, target: content)
            case .submodule: try directory.makeDirectories(path)
            }
            return try directory.status(path)
        }
    }
}
