import Basics
import CLibGit2

/// Writes a commit's files beneath a directory, each through `Basics.Directory`.
struct TreeWriter {
    /// The largest tracked file, in bytes. A blob is held in memory, and twice if it is converted.
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

    /// Returns the bytes of a file for the disk, or the target of a link; empty for a submodule.
    func content(of path: [UInt8], _ entry: TreeListing.Entry) throws(SourceControlError) -> [UInt8] {
        switch entry.kind {
        case .file, .executable:
            return try rules.filtered(
                entry.id, path: path, limit: Self.maximumFile, reading: listing.reading(of: entry))
        case .link:
            // PATH_MAX; the kernel accepts no longer target.
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

    /// Writes one file, link or empty directory of a submodule, and creates the directories above it.
    /// - Parameter isNew: Whether the directory was empty, so that no file has to be replaced.
    /// - Returns: Its status; `nil` if it was removed meanwhile.
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
                // No job uses the workspace before the checkout has ended, and the next checkout rewrites what a killed one has left.
                return try directory.rewrite(path, bytes: content, mode: mode)
            case .link: try directory.makeLink(path, target: content)
            case .submodule: try directory.makeDirectories(path)
            }
            return try directory.status(path)
        }
    }
}
