import CLibGit2
import Glibc

/// Finds the entries in which two trees differ. Equal parts are not read. The number of entries is limited, because trees that contain each other
/// many times can name an astronomical number of files.
struct TreeDifference {
    let reading: CommitReading
    /// The most entries that are read.
    let limit: Int

    /// Calls `visit` for every file, link and submodule that differs.
    /// - Parameter visit: Receives the path relative to the root and the entry on each side; `nil` if there is none.
    /// - Returns: Whether all were visited. False if there are more than `limit`, or directories are nested too deeply.
    func walk(
        from old: git_oid, to new: git_oid,
        _ visit: (_ path: [UInt8], _ old: CommitReading.Entry?, _ new: CommitReading.Entry?)
            throws(SourceControlError) -> Void
    ) throws(SourceControlError) -> Bool {
        // This uses an explicit stack, because the repository determines the depth.
        var pending: [(path: [UInt8], old: git_oid?, new: git_oid?, depth: Int)] = [([], old, new, 0)]
        var count = 0
        while let next = pending.popLast() {
            if let old = next.old, let new = next.new, old.bytes == new.bytes { continue }
            let (before, after) = (try entries(next.old), try entries(next.new))
            count += before.count + after.count
            guard count <= limit, next.depth < TreeListing.maximumDepth else { return false }
            for name in Set(before.keys).union(after.keys) {
                let (old, new) = (before[name], after[name])
                if let old, let new, old.mode == new.mode, old.id.bytes == new.id.bytes { continue }
                let path = next.path.isEmpty ? name : next.path + [UInt8(ascii: "/")] + name
                let (oldTree, newTree) = (Self.tree(old), Self.tree(new))
                if oldTree != nil || newTree != nil { pending.append((path, oldTree, newTree, next.depth + 1)) }
                let (oldFile, newFile) = (oldTree == nil ? old : nil, newTree == nil ? new : nil)
                if oldFile != nil || newFile != nil { try visit(path, oldFile, newFile) }
            }
        }
        return true
    }

    private static func tree(_ entry: CommitReading.Entry?) -> git_oid? {
        entry.flatMap { $0.mode & S_IFMT == S_IFDIR ? $0.id : nil }
    }

    private func entries(_ tree: git_oid?) throws(SourceControlError) -> [[UInt8]: CommitReading.Entry] {
        guard let tree else { return [:] }
        return Dictionary(
            CommitReading.entries(of: try reading.tree(tree)).map { ($0.name, $0) }, uniquingKeysWith: { $1 })
    }
}
