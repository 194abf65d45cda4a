import CLibGit2
import Glibc

/// The entries in which two trees differ. What is the same in both is not read, and there is a limit to what is: trees that hold each other
/// many times name more files than there are atoms.
struct TreeDifference {
    let reading: CommitReading
    /// Entries that are looked at.
    let limit: Int

    /// Calls `visit` for every file, link and submodule that is not the same in both.
    /// - Parameter visit: Gets the path from the root and the entry on each side; nothing where there is none.
    /// - Returns: Whether that was all; else there are more than `limit`, or directories in directories too deep.
    func walk(
        from old: git_oid, to new: git_oid,
        _ visit: (_ path: [UInt8], _ old: CommitReading.Entry?, _ new: CommitReading.Entry?)
            throws(SourceControlError) -> Void
    ) throws(SourceControlError) -> Bool {
        // A stack of our own: the depth is the repository's choice.
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
