import CLibGit2
import Glibc
import Model

/// The files of a commit's tree. They are checked, so that none can be written outside of the workspace or into a `.git`.
struct TreeListing {
    enum Kind: UInt8 { case file = 1, executable, link, submodule }

    struct Entry {
        let kind: Kind
        let id: git_oid
        /// The index in `readings` of the repository that has it.
        var source = 0
    }

    /// The most files, links, submodules and directories. This is far more than in any known repository (N5: a million). Ten trees of ten entries
    /// each can name ten thousand million directories.
    static let maximumEntries = 5_000_000
    /// The number of entries from which a second pass over the trees counts all of them.
    private static let largeCount = 50_000
    /// The most bytes of all paths together.
    static let maximumPathBytes = 512 << 20
    /// The deepest nesting of directories. git itself stops at 2048 (`core.maxTreeDepth`, git-config(1) 2.43).
    static let maximumDepth = 1024
    /// The longest path, in bytes. It leaves room below PATH_MAX for the workspace and for temporary names.
    static let maximumPathLength = 3500

    private(set) var entries: [[UInt8]: Entry] = [:]
    /// The paths in the order of git's trees, so that the files of one directory are written one after the other.
    private(set) var order: [[UInt8]] = []
    /// All directories that are not empty, without the root.
    private(set) var directories: Set<[UInt8]> = []
    /// The submodules whose files are in `entries`, with their commits.
    private(set) var modules: [[UInt8]: git_oid] = [:]
    /// The paths of the submodules whose files are in `entries`, and the index in `readings` of each.
    private(set) var roots: [(path: [UInt8], source: Int)] = []
    /// The repository of the commit, and then those of its submodules.
    private let readings: [CommitReading]

    /// All submodules, including those that stay empty directories.
    var links: [[UInt8]: git_oid] {
        entries.filter { $1.kind == .submodule && $1.source == 0 }.mapValues(\.id).merging(
            modules.filter { path, _ in
                !modules.keys.contains { path.count > $0.count && path.starts(with: $0 + [0x2f]) }
            }
        ) { $1 }
    }

    func reading(of entry: Entry) -> CommitReading { readings[entry.source] }

    /// Returns the repository that contains a path, and the offset in the path at which its own path begins. A submodule's files have its own rules.
    func source(of path: [UInt8]) -> (source: Int, start: Int) {
        var found = (source: 0, start: 0)
        for (root, source) in roots where root.count >= found.start && path.count > root.count {
            if path[root.count] == 0x2f, path.starts(with: root) { found = (source, root.count + 1) }
        }
        return found
    }

    /// A submodule whose files are listed in its place.
    struct Module {
        let path: [UInt8]
        let commit: CommitID
        let reading: CommitReading
    }

    /// - Parameter interruption: Checked for each tree.
    /// - Throws: `treeRefused` with the path and the reason; `tooLarge`; `canceled`.
    init(
        of commit: CommitID, reading: CommitReading, modules given: [Module] = [], interruption: Interruption? = nil
    ) throws(SourceControlError) {
        readings = [reading] + given.map(\.reading)
        let places = Dictionary(given.enumerated().map { ($1.path, $0 + 1) }) { first, _ in first }
        // This uses an explicit stack, because the repository determines the depth.
        var pending: [(path: [UInt8], id: git_oid, depth: Int, source: Int)] = []
        pending.append(([], CommitReading.id(of: try reading.rootTree(of: commit)), 0, 0))
        var (count, pathBytes) = (0, 0)
        var counts = [Int](repeating: 0, count: readings.count)
        let commits = [commit] + given.map(\.commit)
        while let next = pending.popLast() {
            try interruption?.check(reading.operation)
            let tree = try readings[next.source].tree(next.id)
            let prefix = next.path.isEmpty ? [] : next.path + [UInt8(ascii: "/")]
            var names: Set<[UInt8]> = []
            for entry in CommitReading.entries(of: tree) {
                let path = prefix + entry.name
                count += 1
                pathBytes += path.count
                counts[next.source] += 1
                var whole = count
                // The entries are counted before all of a huge tree is in memory. A submodule can contain such a tree, too.
                if counts[next.source] == Self.largeCount {
                    whole += try Self.count(of: commits[next.source], readings[next.source]) - Self.largeCount
                }
                guard whole <= Self.maximumEntries, pathBytes <= Self.maximumPathBytes else {
                    throw SourceControlError(
                        code: .tooLarge, operation: reading.operation,
                        message: "its tree holds more than \(Self.maximumEntries) files and directories, or more than "
                            + "\(Self.maximumPathBytes >> 20) MiB of paths")
                }
                func refusal(_ reason: String) -> SourceControlError {
                    SourceControlError(
                        code: .treeRefused, operation: reading.operation,
                        message: "its tree holds \"\(String(decoding: path, as: UTF8.self))\": \(reason)")
                }
                if let reason = PathRules.refusal(of: entry.name) { throw refusal(reason) }
                // Of two entries with one name, a link and a directory, the second would be written through the first.
                guard names.insert(entry.name).inserted else { throw refusal("the name is there twice") }
                guard path.count <= Self.maximumPathLength else { throw refusal("the path is too long") }
                let kind: Kind
                switch entry.mode & S_IFMT {
                case S_IFDIR:
                    guard next.depth < Self.maximumDepth else { throw refusal("directories are nested too deeply") }
                    directories.insert(path)
                    pending.append((path, entry.id, next.depth + 1, next.source))
                    continue
                case S_IFREG: kind = entry.mode & 0o100 != 0 ? .executable : .file
                case S_IFLNK: kind = .link
                // This is a commit in a tree (gitlink), 0160000.
                case 0o160000:
                    kind = .submodule
                    guard let place = places[path], given[place - 1].commit == entry.id.commitID else { break }
                    modules[path] = entry.id
                    roots.append((path, place))
                    directories.insert(path)
                    let root = try readings[place].rootTree(of: given[place - 1].commit)
                    pending.append((path, CommitReading.id(of: root), next.depth + 1, place))
                    continue
                default: throw refusal("it is neither a file, a link, a directory nor a submodule")
                }
                if kind == .link, PathRules.isModulesFile(entry.name) {
                    throw refusal("it must not be a link (CVE-2018-11235)")
                }
                entries[path] = Entry(kind: kind, id: entry.id, source: next.source)
                order.append(path)
            }
        }
    }

    /// Returns the number of entries in a commit's trees, at every path. Every tree is read at most twice, however often it occurs.
    private static func count(of commit: CommitID, _ reading: CommitReading) throws(SourceControlError) -> Int {
        let root = CommitReading.id(of: try reading.rootTree(of: commit))
        var known: [[UInt8]: Int] = [:]
        var pending = [(id: root, isSecond: false)]
        while let next = pending.popLast() {
            guard known[next.id.bytes] == nil else { continue }
            let entries = CommitReading.entries(of: try reading.tree(next.id))
            let directories = entries.filter { $0.mode & S_IFMT == S_IFDIR }
            if next.isSecond {
                let sums = directories.map { known[$0.id.bytes] ?? 0 } + [entries.count]
                known[next.id.bytes] = sums.reduce(0) { min($0 + $1, maximumEntries + 1) }
            } else {
                pending.append((next.id, true))
                pending += directories.filter { known[$0.id.bytes] == nil }.map { ($0.id, false) }
            }
        }
        return known[root.bytes] ?? 0
    }
}
