import CLibGit2
import Model

/// Follows lines and files back through commits, as `git blame -w` does, within given limits.
///
/// libgit2's own blame has no limit except a commit at which it stops, misses that on every side branch, and cannot be interrupted. Here a few lines
/// of many files are searched. So the changes of a commit are determined once for all of them. Each line is followed to the parent that has it, under
/// its old name if the file was renamed.
struct LineHistory {
    /// The origin of a line.
    enum Origin: Hashable, Sendable {
        /// This commit wrote it.
        case commit(CommitID)
        /// The line existed before the given commits.
        case older
        /// The file does not exist or has no such line, or the limit was reached.
        case unknown
    }

    /// The most commits, trees and files that are compared.
    let maximumSteps: Int
    /// The time at which it ends in any case.
    let deadline: ContinuousClock.Instant
    private let comparing: ChangeReading
    /// Reads the commits and trees.
    var reading: CommitReading { comparing.reading }
    private var steps = 0
    private var nodes: [CommitID: Node] = [:]
    /// The number of paths that are cached with commits.
    private var keptPaths = 0
    private var compared: [Pair: [SourceChanges.Hunk]?] = [:]

    /// The most paths that are cached for all commits together, about 20 MB. For further commits, files are looked up one by one.
    private static let maximumKeptPaths = 200_000
    /// The most paths of one commit that are cached. For a commit with more changes, files are looked up one by one; most such commits are merges.
    private static let maximumPathsOfOne = 2000

    private struct Pair: Hashable {
        let (old, new): ([UInt8], [UInt8])
    }

    /// A commit that was read.
    private final class Node {
        let id: CommitID
        let tree: git_oid
        let parents: [CommitID]
        /// For each parent, in order: its node, the paths that differ from it, and the old names of renamed files. `nil` if not determined yet.
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

    /// Whether a limit is reached, so that no further commit is read.
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

    /// Returns the blob of a path of a commit; `nil` if there is no regular file.
    private mutating func file(_ path: String, of node: Node) throws(SourceControlError) -> git_oid? {
        steps += 1
        let tree = try reading.tree(node.tree)
        return comparing.file(path, in: tree)
    }

    /// Whether a file differs from the one in a parent.
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

    /// Returns the name in a parent of a file that was renamed since; `nil` if it was not.
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

    /// Returns the place of a line in a parent; `nil` if the commit added the line.
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

    /// Returns the commit that wrote a line.
    /// - Parameter commits: The commits to search; `nil` for the whole history of `commit`.
    mutating func origin(
        of place: LinePlace, at commit: CommitID, among commits: Set<CommitID>?
    ) throws(SourceControlError) -> Origin {
        var (node, place) = (try node(commit), place)
        guard try file(place.path, of: node) != nil else { return .unknown }
        while !isExhausted {
            if let commits, !commits.contains(node.id) { return .older }
            var next: (node: Node, place: LinePlace)?
            // If a parent outside of the given commits has the line, it existed before, whatever the other parents contain.
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

    /// Whether a commit changed a file, so that it differs from the file in every parent. A removed file counts as changed, too.
    mutating func changes(_ path: String, _ commit: CommitID) throws(SourceControlError) -> Bool {
        let node = try node(commit)
        if node.parents.isEmpty { return try file(path, of: node) != nil }
        for number in node.parents.indices where try !differs(path, node, from: number) { return false }
        return true
    }
}

/// A line of a file of a commit.
package struct LinePlace: Hashable, Sendable {
    /// The path relative to the root, with `/` as the separator.
    package var path: String
    /// The line number, which counts from 1.
    package var line: Int

    package init(path: String, line: Int) {
        self.path = path
        self.line = line
    }
}
