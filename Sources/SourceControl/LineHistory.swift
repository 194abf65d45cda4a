import CLibGit2
import Model

/// Follows lines and files back through commits, as `git blame -w` does, and no farther than it is told to.
///
/// libgit2's own blame has no limit but a commit at which it stops, passes that by on every side branch, and cannot be
/// interrupted. A few lines are wanted here, of a few commits, so each line is followed alone: at each commit it came from
/// the parent that has it, under its old name where the file was renamed.
struct LineHistory {
    /// Where a line comes from.
    enum Origin: Hashable, Sendable {
        /// This commit wrote it.
        case commit(CommitID)
        /// It was there before the commits that were asked about.
        case older
        /// The file is not there, has no such line, or the limit was reached.
        case unknown
    }

    /// The most commits and parents that are looked at in all.
    let maximumSteps: Int
    /// When it ends in any case.
    let deadline: ContinuousClock.Instant
    private let comparing: ChangeReading
    /// What it reads with.
    var reading: CommitReading { comparing.reading }
    private var steps = 0
    private var known: [CommitID: Node] = [:]
    private var compared: [Pair: [SourceChanges.Hunk]?] = [:]
    private var renames: [Edge: [String: String]] = [:]

    private struct Pair: Hashable {
        let (old, new): ([UInt8], [UInt8])
    }

    private struct Edge: Hashable {
        let (parent, child): (CommitID, CommitID)
    }

    /// A commit's tree is read anew each time: libgit2 keeps what was read lately.
    private struct Node {
        let tree: git_oid
        let parents: [CommitID]
    }

    init(_ reading: CommitReading, maximumSteps: Int, deadline: ContinuousClock.Instant) {
        comparing = ChangeReading(reading: reading)
        self.maximumSteps = maximumSteps
        self.deadline = deadline
    }

    /// Whether nothing more is looked at.
    var isExhausted: Bool { steps >= maximumSteps || ContinuousClock.now >= deadline }

    private mutating func node(_ commit: CommitID) throws(SourceControlError) -> Node {
        steps += 1
        if let node = known[commit] { return node }
        let handle = try comparing.reading.commit(commit)
        guard let tree = git_commit_tree_id(handle.pointer)?.pointee else {
            throw Mirror.missing(commit, operation: reading.operation)
        }
        let parents = (0..<git_commit_parentcount(handle.pointer)).compactMap {
            git_commit_parent_id(handle.pointer, $0)?.pointee.commitID
        }
        let node = Node(tree: tree, parents: parents)
        known[commit] = node
        return node
    }

    /// The blob of a path of a commit.
    private mutating func file(_ path: String, of commit: CommitID) throws(SourceControlError) -> git_oid? {
        let tree = try comparing.reading.tree(try node(commit).tree)
        return comparing.file(path, in: tree)
    }

    private mutating func hunks(_ old: git_oid, _ new: git_oid) throws(SourceControlError) -> [SourceChanges.Hunk]? {
        let pair = Pair(old: old.bytes, new: new.bytes)
        if let hunks = compared[pair] { return hunks }
        let hunks = try comparing.hunks(from: old, to: new)
        compared[pair] = .some(hunks)
        return hunks
    }

    /// What a file that the parent does not have under its name is called there.
    private mutating func oldName(
        of path: String, parent: CommitID, child: CommitID
    ) throws(SourceControlError) -> String? {
        let edge = Edge(parent: parent, child: child)
        if let names = renames[edge] { return names[path] }
        let old = try comparing.reading.tree(try node(parent).tree)
        let new = try comparing.reading.tree(try node(child).tree)
        var names: [String: String] = [:]
        for delta in try comparing.deltas(from: old, to: new, findsRenames: { _ in true }) {
            if let old = delta.old?.path, let new = delta.new?.path, old != new { names[new] = old }
        }
        renames[edge] = names
        return names[path]
    }

    /// Where a file is in a parent, and the line of it; nothing when the commit brought the line in.
    private mutating func before(
        _ path: String, line: Int, blob: git_oid, child: CommitID, parent: CommitID
    ) throws(SourceControlError) -> (path: String, line: Int)? {
        var old = try file(path, of: parent)
        var name = path
        if old == nil, let other = try oldName(of: path, parent: parent, child: child) {
            name = other
            old = try file(other, of: parent)
        }
        guard let old else { return nil }
        if old.bytes == blob.bytes { return (name, line) }
        guard let hunks = try hunks(old, blob) else { return nil }
        var moved = 0
        for hunk in hunks {
            if line < hunk.new.lowerBound { break }
            if hunk.new.contains(line) { return nil }
            moved = hunk.new.upperBound - hunk.old.upperBound
        }
        return (name, line - moved)
    }

    /// The commit that wrote a line.
    /// - Parameter commits: Only these are looked through; nothing: all that lead to `commit`.
    mutating func origin(
        of path: String, line: Int, at commit: CommitID, among commits: Set<CommitID>?
    ) throws(SourceControlError) -> Origin {
        var (commit, path, line) = (commit, path, line)
        guard try file(path, of: commit) != nil else { return .unknown }
        while !isExhausted {
            if let commits, !commits.contains(commit) { return .older }
            guard let blob = try file(path, of: commit) else { return .unknown }
            var next: (commit: CommitID, path: String, line: Int)?
            // A line that a parent outside has was there before, whatever the others say.
            let parents = try node(commit).parents
            let outside = commits.map { inside in parents.filter { !inside.contains($0) } } ?? []
            for parent in outside + parents.filter({ !outside.contains($0) }) where next == nil {
                if let place = try before(path, line: line, blob: blob, child: commit, parent: parent) {
                    next = (parent, place.path, place.line)
                }
            }
            guard let next else { return .commit(commit) }
            (commit, path, line) = next
        }
        return .unknown
    }

    /// Whether a commit changed a file: no parent has it so. A file that it took away was changed, too.
    mutating func changes(_ path: String, _ commit: CommitID) throws(SourceControlError) -> Bool {
        let now = try file(path, of: commit)
        let parents = try node(commit).parents
        if parents.isEmpty { return now != nil }
        for parent in parents where try file(path, of: parent)?.bytes == now?.bytes { return false }
        return true
    }
}
