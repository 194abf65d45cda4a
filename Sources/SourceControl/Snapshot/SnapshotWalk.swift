import Basics
import Glibc

/// Finds the files of a working tree that git would add, by the tree's own rules. Links are never followed.
struct SnapshotWalk {
    /// The most files, links and directories of a tree, which is the limit of a checkout.
    static let maximumFiles = TreeListing.maximumEntries

    struct Found {
        /// The path relative to the root.
        let path: [UInt8]
        let status: FileStatus
    }

    private static let slash = UInt8(ascii: "/")

    private let root: [UInt8]
    private let operation: String
    private let interruption: Interruption
    /// The directories beneath the root that are left out, each with a slash at its end.
    private let excluded: [[UInt8]]
    private let tracked: [[UInt8]: TreeRepository.Tracked]
    /// Returns the content of an attributes file in the repository's index, for use if the file is missing.
    private let indexed: (TreeRepository.Tracked) -> [UInt8]?

    private var ignored = IgnoreRules()
    private var budget: RuleBudget
    private let watch: RuleWatch
    private(set) var attributes = AttributeRules()
    /// All texts that determine how files are converted, with the directories of their files.
    private(set) var conversions: [UInt8] = []
    private(set) var files: [Found] = []
    private var known: Set<[UInt8]> = []
    private var count = 0

    /// - Parameters:
    ///   - further: Ignore rules for the whole tree. The last ones take precedence.
    ///   - attributes: The repository's own attributes, which take precedence over those of the tree.
    ///   - indexed: Returns the content of a file in the repository's index.
    init(
        _ root: String, _ operation: String, watch: RuleWatch, excluded: [String],
        tracked: [[UInt8]: TreeRepository.Tracked], further: [String], attributes: String, interruption: Interruption,
        indexed: @escaping (TreeRepository.Tracked) -> [UInt8]?
    ) {
        self.root = Array((root + "/").utf8)
        (self.operation, self.interruption, self.tracked) = (operation, interruption, tracked)
        (self.watch, budget) = (watch, RuleBudget(operation: operation))
        self.excluded = excluded.map { Array($0.utf8) }
        self.indexed = indexed
        for text in further { ignored.addFurther(Array(text.utf8)) }
        self.attributes.addFirst(Array(attributes.utf8))
        conversions = Array(attributes.utf8) + [0]
    }

    /// Finds all files: those that no rule ignores, and those that are tracked.
    /// - Parameter isModule: Whether a path is a submodule whose files are read separately.
    mutating func run(isModule: ([UInt8]) -> Bool) throws(SourceControlError) {
        var pending: [[UInt8]] = [[]]
        while let directory = pending.popLast() {
            try readRules(of: directory)
            var inner: [[UInt8]] = []
            for name in Self.names(in: root + directory) where !name.elementsEqual(".git".utf8) {
                let path = directory + name
                guard let status = try status(of: path), !isExcluded(path, status) else { continue }
                let isDirectory = status.kind == .directory
                if !isDirectory, status.kind != .file, status.kind != .link { continue }
                let isTracked = !isDirectory && tracked[path] != nil
                if !isTracked, try isIgnored(path, isDirectory: isDirectory) { continue }
                if !isDirectory {
                    try add(path, status)
                } else if !isModule(path), !isRepository(path) {
                    inner.append(path + [Self.slash])
                }
            }
            pending += inner.reversed()
        }
        try addTracked()
    }

    private func isIgnored(_ path: [UInt8], isDirectory: Bool) throws(SourceControlError) -> Bool {
        try watch.ask { () throws(SourceControlError) in
            try ignored.isMatched(path, isDirectory: isDirectory, watch)
        }
    }

    /// Adds the tracked files that a rule ignores, by themselves or by a directory above them.
    private mutating func addTracked() throws(SourceControlError) {
        let found = Set(files.lazy.map(\.path))
        for path in tracked.keys.sorted(by: { $0.lexicographicallyPrecedes($1) }) where !found.contains(path) {
            guard tracked[path]?.mode != 0o160000, let status = try status(of: path),
                status.kind == .file || status.kind == .link, isBeneathDirectories(path)
            else { continue }
            var end = 0
            while let slash = path[end...].firstIndex(of: Self.slash) {
                end = slash + 1
                try readRules(of: Array(path[..<end]))
            }
            try add(path, status)
        }
    }

    /// Whether a path has no link above it. Files behind a link are not part of the tree.
    private func isBeneathDirectories(_ path: [UInt8]) -> Bool {
        path.indices.filter { path[$0] == Self.slash }.allSatisfy {
            FileStatus(of: root + path[..<$0])?.kind == .directory
        }
    }

    private mutating func add(_ path: [UInt8], _ status: FileStatus) throws(SourceControlError) {
        let name = path[(path.lastIndex(of: Self.slash).map { $0 + 1 } ?? 0)...]
        if let reason = PathRules.refusal(of: Array(name)) {
            throw SourceControlError(
                code: .treeRefused, operation: operation,
                message:
                    "it holds \"\(String(decoding: path, as: UTF8.self))\", which git does not add either: \(reason); rename it, or "
                    + "write it into .gitignore")
        }
        files.append(Found(path: path, status: status))
    }

    private mutating func status(of path: [UInt8]) throws(SourceControlError) -> FileStatus? {
        try interruption.check(operation)
        guard path.count <= TreeListing.maximumPathLength else { return nil }
        count += 1
        guard count <= Self.maximumFiles else {
            throw SourceControlError(
                code: .tooLarge, operation: operation,
                message: "it has more than \(Self.maximumFiles) files; write what is built into .gitignore")
        }
        return FileStatus(of: root + path)
    }

    private func isExcluded(_ path: [UInt8], _ status: FileStatus) -> Bool {
        status.kind == .directory && excluded.contains { $0.dropLast().elementsEqual(path) }
    }

    /// Whether a directory is a separate working tree.
    private func isRepository(_ path: [UInt8]) -> Bool {
        let place = root + path + Array("/.git".utf8)
        switch FileStatus(of: place)?.kind {
        case .directory: return FileStatus(of: place + Array("/HEAD".utf8)) != nil
        case .file: return (try? WholeFile.read(place, limit: 1 << 16))?.starts(with: "gitdir: ".utf8) == true
        default: return false
        }
    }

    // MARK: Rules

    /// Reads the rule files of a directory.
    /// - Parameter directory: The directory, with a slash at its end; empty for the root.
    private mutating func readRules(of directory: [UInt8]) throws(SourceControlError) {
        guard known.insert(directory).inserted else { return }
        // A link in place of a rule file does not count (git 2.32).
        if let text = text(directory + Array(".gitignore".utf8)),
            let lines = try budget.ignored(text, { text })
        {
            ignored.add(lines, in: directory)
        }
        let path = directory + Array(".gitattributes".utf8)
        // If the file is missing, the index's version counts.
        guard let text = text(path) ?? tracked[path].flatMap(indexed) else { return }
        if let file = try budget.attributes(text, { text }) { attributes.add(file, in: directory) }
        conversions += directory + [0] + text + [0]
    }

    private func text(_ path: [UInt8]) -> [UInt8]? {
        try? WholeFile.read(root + path, limit: TreeRules.maximumRuleFile)
    }

    /// Returns the names in a directory, sorted by their bytes. Empty if it cannot be read; git leaves such a directory out, too.
    private static func names(in directory: [UInt8]) -> [[UInt8]] {
        guard
            let opened = (directory + [0]).withUnsafeBytes({ bytes in
                bytes.bindMemory(to: CChar.self).baseAddress.flatMap { opendir($0) }
            })
        else { return [] }
        defer { closedir(opened) }
        var names: [[UInt8]] = []
        while let entry = readdir(opened) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
            if !name.elementsEqual(".".utf8), !name.elementsEqual("..".utf8) { names.append(name) }
        }
        return names.sorted { $0.lexicographicallyPrecedes($1) }
    }
}
