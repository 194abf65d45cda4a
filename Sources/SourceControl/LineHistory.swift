import CLibGit2
import Model

/// Follows lines and files back through commits, as `git blame -w` does, and no farther than it is told to.
///
/// libgit2's own blame has no limit but a commit at which it stops, passes that by on every side branch, and cannot be
/// interrupted. A few lines of many files are wanted here, so what a commit changed is found once for all of them, and each
/// line goes to the parent that has it, under its old name where the file was renamed.
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

    /// The most commits, trees and files that are compared in all.
    let maximumSteps: Int
    /// When it ends in any case.
    let deadline: ContinuousClock.Instant
    private let comparing: ChangeReading
    /// What it reads with.
    var reading: CommitReading { comparing.reading }
    private var steps = 0
    private var nodes: [CommitID: Node] = [:]
    /// Paths that are kept with commits.
    private var keptPaths = 0
    private var compared: [Pair: [SourceChanges.Hunk]?] = [:]

    /// Of all commits together, some 20 MB; of those beyond, files are looked up one by one.
    private static let maximumKeptPaths = 200_000
    /// A commit that changes more is looked up, too: most are merges of something else.
    private static let maximumPathsOfOne = 2000

    private struct Pair: Hashable {
        let (old, new): ([UInt8], [UInt8])
    }

    /// A commit that was met.
    private final class Node {
        let id: CommitID
        let tree: git_oid
        let parents: [CommitID]
        /// By number of the parent: its own node, the paths that differ from it, and the old names of those that were renamed.
        var nodes: [Node?]
        var changed: [Changed?]
        var renamed: [[String: String]?]

        init(id: CommitID, tree: git_oid, parents: [CommitID]) {
            (self.id, self.tree, self.parents) = (id, tree, parents)
            nodes = Array(repeating: nil, count: parents.count)
            changed = Array(repeating: nil, count: parents.count)
            renamed = Array(repeating: nil, count: parents.count)
        }
    }

    private enum Changed {
        case paths(Set<String>)
        case tooMany
    }

    init(_ reading: CommitReading, maximumSteps: Int, deadline: ContinuousClock.Instant) {
        comparing = ChangeReading(reading: reading)
        self.maximumSteps = maximumSteps
        self.deadline = deadline
    }

    /// Whether nothing more is looked at.
    var isExhausted: Bool { steps >= maximumSteps || ContinuousClock.now >= deadline }

    // MARK: Commits

    private mutating func node(_ commit: CommitID) throws(SourceControlError) -> Node {
        if let node = nodes[commit] { return node }
        steps += 1
        let handle = try reading.commit(commit)
        guard let tree = git_commit_tree_id(handle.pointer)?.pointee else {
            throw Mirror.missing(commit, operation: reading.operation)
        }
        let parents = (0..<git_commit_parentcount(handle.pointer)).compactMap {
            git_commit_parent_id(handle.pointer, $0)?.pointee.commitID
        }
        let node = Node(id: commit, tree: tree, parents: parents)
        nodes[commit] = node
        return node
    }

    private mutating func parent(_ number: Int, of node: Node) throws(SourceControlError) -> Node {
        if let parent = node.nodes[number] { return parent }
        let parent = try self.node(node.parents[number])
        node.nodes[number] = parent
        return parent
    }

    /// The blob of a path of a commit.
    private mutating func file(_ path: String, of node: Node) throws(SourceControlError) -> git_oid? {
        steps += 1
        let tree = try reading.tree(node.tree)
        return comparing.file(path, in: tree)
    }

    /// Whether a file is another than in a parent.
    private mutating func differs(_ path: String, _ node: Node, from number: Int) throws(SourceControlError) -> Bool {
        switch node.changed[number] {
        case .paths(let paths): return paths.contains(path)
        case .tooMany:
            return try file(path, of: node)?.bytes != file(path, of: try parent(number, of: node))?.bytes
        case nil:
            steps += 1
            let old = try reading.tree(try parent(number, of: node).tree)
            let new = try reading.tree(node.tree)
            let deltas = try comparing.deltas(from: old, to: new) { _ in false }
            let isKept = deltas.count <= Self.maximumPathsOfOne && keptPaths + deltas.count <= Self.maximumKeptPaths
            let paths = Set(deltas.flatMap { [$0.old?.path, $0.new?.path].compactMap(\.self) })
            if isKept { keptPaths += deltas.count }
            node.changed[number] = isKept ? .paths(paths) : .tooMany
            return paths.contains(path)
        }
    }

    /// What a file that a parent does not have under its name is called there.
    private mutating func oldName(of path: String, _ node: Node, in number: Int) throws(SourceControlError) -> String? {
        if let names = node.renamed[number] { return names[path] }
        steps += 1
        let old = try reading.tree(try parent(number, of: node).tree)
        let new = try reading.tree(node.tree)
        var names: [String: String] = [:]
        for delta in try comparing.deltas(from: old, to: new, findsRenames: { _ in true }) {
            if let old = delta.old?.path, let new = delta.new?.path, old != new { names[new] = old }
        }
        node.renamed[number] = names
        return names[path]
    }

    // MARK: Lines

    /// Where a line of a file is in a parent; nothing when the commit brought it in.
    private mutating func before(
        _ place: LinePlace, _ node: Node, in number: Int
    ) throws(SourceControlError) -> LinePlace? {
        guard try differs(place.path, node, from: number) else { return place }
        let parent = try parent(number, of: node)
        guard let blob = try file(place.path, of: node) else { return nil }
        var name = place.path
        var old = try file(name, of: parent)
        if old == nil, let other = try oldName(of: name, node, in: number) {
            name = other
            old = try file(other, of: parent)
        }
        guard let old else { return nil }
        guard old.bytes != blob.bytes else { return LinePlace(path: name, line: place.line) }
        guard let hunks = try hunks(old, blob) else { return nil }
        var moved = 0
        for hunk in hunks {
            if place.line < hunk.new.lowerBound { break }
            if hunk.new.contains(place.line) { return nil }
            moved = hunk.new.upperBound - hunk.old.upperBound
        }
        return LinePlace(path: name, line: place.line - moved)
    }

    private mutating func hunks(_ old: git_oid, _ new: git_oid) throws(SourceControlError) -> [SourceChanges.Hunk]? {
        let pair = Pair(old: old.bytes, new: new.bytes)
        if let hunks = compared[pair] { return hunks }
        steps += 1
        let hunks = try comparing.hunks(from: old, to: new)
        compared[pair] = .some(hunks)
        return hunks
    }

    /// The commit that wrote a line.
    /// - Parameter commits: Only these are looked through; nothing: all that lead to `commit`.
    mutating func origin(
        of place: LinePlace, at commit: CommitID, among commits: Set<CommitID>?
    ) throws(SourceControlError) -> Origin {
        var (node, place) = (try node(commit), place)
        guard try file(place.path, of: node) != nil else { return .unknown }
        while !isExhausted {
            if let commits, !commits.contains(node.id) { return .older }
            var next: (node: Node, place: LinePlace)?
            // A line that a parent outside has was there before, whatever the others say.
            let numbers = node.parents.indices
            let outside = commits.map { inside in numbers.filter { !inside.contains(node.parents[$0]) } } ?? []
            let order = outside.isEmpty ? Array(numbers) : outside + numbers.filter { !outside.contains($0) }
            for number in order where next == nil {
                if let before = try before(place, node, in: number) {
                    next = (try parent(number, of: node), before)
                }
            }
            guard let next else { return .commit(node.id) }
            (node, place) = next
        }
        return .unknown
    }

    // MARK: Files

    /// Whether a commit changed a file: no parent has it so. A file that it took away was changed, too.
    mutating func changes(_ path: String, _ commit: CommitID) throws(SourceControlError) -> Bool {
        let node = try node(commit)
        if node.parents.isEmpty { return try file(path, of: node) != nil }
        for number in node.parents.indices where try !differs(path, node, from: number) { return false }
        return true
    }
}
