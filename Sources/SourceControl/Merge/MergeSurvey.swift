import CLibGit2
import Glibc
import Model

/// Estimates how large a merge is before it is made, because libgit2 reads all of both trees and cannot be interrupted.
///
/// The result depends only on the two commits, not on elapsed time. So it is the same in a rerun and in another mirror.
struct MergeSurvey {
    let reading: CommitReading
    var limits = Limits()

    struct Limits {
        /// The most commits between the two and their merge base.
        var commits = 100_000
        /// The most merge bases. If branches were merged into each other, there can be several.
        var ancestors = 8
        /// The most files, links, submodules and directories of one tree (N5: a million). libgit2 needs about 300 bytes of memory for each.
        var entries = 1_000_000
        /// The most bytes of the paths of one tree.
        var pathBytes = 128 << 20
        /// The most entries of directories that differ from the merge base.
        var differing = 400_000
        /// The most bytes of one version of a file that both have changed. The lines of larger files are not merged.
        var fileBytes = 8 << 20
        /// The most bytes of all versions of such files together.
        var mergedBytes = 64 << 20
        /// The most lines of one version of such a file. libgit2 needs about 100 bytes of memory for each (measured with 1.5.1: 104 for empty ones).
        var fileLines = 500_000
        /// The most bytes of added and removed files in which renames are searched. With more, a renamed and changed file counts as removed and
        /// added.
        var renamedBytes = 64 << 20
    }

    enum Answer: Equatable {
        case mayMerge(findsRenames: Bool)
        /// The merge is too large, for this reason.
        case tooMuch(String)
    }

    func answer(head: CommitID, base: CommitID) throws(SourceControlError) -> Answer {
        let history = CommonHistory(reading: reading)
        guard try !history.isFar(head, base, limit: limits.commits) else {
            return .tooMuch("more than \(limits.commits) commits lie between them")
        }
        guard let ancestors = try history.ancestors(head, base, limit: limits.ancestors) else {
            return .tooMuch("their histories divide in more than \(limits.ancestors) commits")
        }
        // Without a common commit, every file in both would count as added by both, however large it is.
        guard !ancestors.isEmpty else { return .tooMuch("they have no commit in common") }
        var sizes: [[UInt8]: TreeSize] = [:]
        for commit in [base, head] + ancestors.sorted(by: { $0.description < $1.description }) {
            let size = try size(of: commit, known: &sizes)
            guard size.entries <= limits.entries, size.pathBytes <= limits.pathBytes else {
                return .tooMuch(
                    "\(commit.abbreviated) holds more than \(limits.entries) files and directories, or more than "
                        + "\(limits.pathBytes >> 20) MiB of paths")
            }
        }
        var findsRenames = true
        for ancestor in ancestors.sorted(by: { $0.description < $1.description }) {
            let found = try compare(ancestor, base, head)
            if let reason = found.reason { return .tooMuch(reason) }
            findsRenames = findsRenames && found.renamedBytes <= limits.renamedBytes
        }
        return .mayMerge(findsRenames: findsRenames)
    }

    // MARK: What differs

    private func compare(
        _ ancestor: CommitID, _ base: CommitID, _ head: CommitID
    ) throws(SourceControlError) -> (reason: String?, renamedBytes: Int) {
        let difference = TreeDifference(reading: reading, limit: limits.differing)
        let start = CommitReading.id(of: try reading.rootTree(of: ancestor))
        var ours: [[UInt8]: (old: git_oid?, new: git_oid?)] = [:]
        var (renamed, merged, large) = (0, 0, [UInt8]?.none)
        var versions: [(path: [UInt8], id: git_oid)] = []
        let store = try GitHandle(reading.operation, free: git_odb_free) { git_repository_odb($0, reading.repository) }
        func bytes(_ id: git_oid?) -> Int {
            guard var id else { return 0 }
            var (length, type) = (0, GIT_OBJECT_ANY)
            // A submodule's commit is not in this mirror, and a missing object is reported by the merge.
            guard git_odb_read_header(&length, &type, store.pointer, &id) == 0, type == GIT_OBJECT_BLOB else {
                return 0
            }
            return min(length, 1 << 40)
        }
        func note(_ old: git_oid?, _ new: git_oid?) {
            if old == nil || new == nil, renamed <= limits.renamedBytes { renamed += bytes(old ?? new) }
        }
        let ourTree = CommitReading.id(of: try reading.rootTree(of: base))
        let isAll = try difference.walk(from: start, to: ourTree) { path, old, new throws(SourceControlError) in
            ours[path] = (old?.id, new?.id)
            note(old?.id, new?.id)
        }
        let theirTree = CommitReading.id(of: try reading.rootTree(of: head))
        let isAllToo = try difference.walk(from: start, to: theirTree) { path, old, new throws(SourceControlError) in
            note(old?.id, new?.id)
            guard let other = ours[path], other.new?.bytes != new?.id.bytes else { return }
            for id in [old?.id, other.new, new?.id] {
                let size = bytes(id)
                if size > limits.fileBytes { large = large ?? path }
                merged += size
                // A file with fewer bytes than this cannot have more lines.
                if let id, size > limits.fileLines { versions.append((path, id)) }
            }
        }
        guard isAll, isAllToo else { return ("more than \(limits.differing) files and directories differ", 0) }
        if let large {
            return (
                "both change \(String(decoding: large, as: UTF8.self)), which has more than "
                    + "\(limits.fileBytes >> 20) MiB", 0
            )
        }
        guard merged <= limits.mergedBytes else {
            return ("the files that both change have more than \(limits.mergedBytes >> 20) MiB", 0)
        }
        for version in versions where try lines(of: version.id) > limits.fileLines {
            let name = String(decoding: version.path, as: UTF8.self)
            return ("both change \(name), which has more than \(limits.fileLines) lines", 0)
        }
        return (nil, renamed)
    }

    private func lines(of id: git_oid) throws(SourceControlError) -> Int {
        var id = id
        let blob = try GitHandle(reading.operation, free: git_blob_free) {
            git_blob_lookup($0, reading.repository, &id)
        }
        guard let start = git_blob_rawcontent(blob.pointer) else { return 0 }
        let bytes = UnsafeRawBufferPointer(start: start, count: Int(git_blob_rawsize(blob.pointer)))
        return bytes.reduce(0) { $0 + ($1 == UInt8(ascii: "\n") ? 1 : 0) }
    }

    // MARK: What they hold

    private struct TreeSize {
        var entries = 0
        var pathBytes = 0
    }

    /// Returns the size of a commit's tree. Every tree is read at most twice, however often it occurs. Sums stop just above the limits.
    private func size(
        of commit: CommitID, known: inout [[UInt8]: TreeSize]
    ) throws(SourceControlError) -> TreeSize {
        let root = CommitReading.id(of: try reading.rootTree(of: commit))
        var pending = [(id: root, isSecond: false)]
        while let next = pending.popLast() {
            guard known[next.id.bytes] == nil else { continue }
            let entries = CommitReading.entries(of: try reading.tree(next.id))
            let directories = entries.filter { $0.mode & S_IFMT == S_IFDIR }
            guard next.isSecond else {
                pending.append((next.id, true))
                pending += directories.filter { known[$0.id.bytes] == nil }.map { ($0.id, false) }
                continue
            }
            var size = TreeSize(entries: entries.count, pathBytes: entries.reduce(0) { $0 + $1.name.count })
            for directory in directories {
                let inner = known[directory.id.bytes] ?? TreeSize()
                size.entries = min(size.entries + inner.entries, limits.entries + 1)
                size.pathBytes = min(
                    size.pathBytes + inner.pathBytes + inner.entries * (directory.name.count + 1), limits.pathBytes + 1)
            }
            known[next.id.bytes] = size
        }
        return known[root.bytes] ?? TreeSize()
    }
}
