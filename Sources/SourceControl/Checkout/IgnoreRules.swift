/// The paths that a tree's `.gitignore` files, and files for the whole tree, ignore (gitignore(5)).
struct IgnoreRules {
    private static let slash = UInt8(ascii: "/")

    /// The patterns by directory. Each directory's path has a slash at its end.
    private var files: [[UInt8]: [GitPattern]] = [:]
    /// The patterns for the whole tree, which apply after all others. The last ones take precedence.
    private var further: [[GitPattern]] = []
    private var directories: [[UInt8]: Bool] = [:]

    /// Adds the patterns of a file.
    /// - Parameters:
    ///   - patterns: The lines of a file, as `patterns` reads them.
    ///   - directory: The directory of the file, with a slash at its end; empty for the root.
    mutating func add(_ patterns: [GitPattern], in directory: [UInt8]) {
        if !patterns.isEmpty { files[directory] = patterns }
    }

    /// Adds a file of the repository or the account: `info/exclude`, `core.excludesFile`.
    mutating func addFurther(_ text: [UInt8]) { further.append(Self.patterns(text)) }

    /// Reads the lines of a file, in whatever directory it is.
    static func patterns(_ text: [UInt8]) -> [GitPattern] {
        var text = text[...]
        if text.starts(with: [0xef, 0xbb, 0xbf]) { text = text.dropFirst(3) }
        var patterns: [GitPattern] = []
        for line in text.split(separator: UInt8(ascii: "\n")) where line.first != UInt8(ascii: "#") {
            var line = line.prefix { $0 != 0 }
            if line.last == UInt8(ascii: "\r") { line = line.dropLast() }
            line = withoutTrailingSpaces(line)
            if !line.isEmpty { patterns.append(GitPattern(line)) }
        }
        return patterns
    }

    /// Removes spaces at the end, unless a backslash is before them.
    private static func withoutTrailingSpaces(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var (end, place) = (line.endIndex, line.startIndex)
        while place < line.endIndex {
            switch line[place] {
            case UInt8(ascii: " "): if end == line.endIndex { end = place }
            case UInt8(ascii: "\\"):
                place += 1
                if place == line.endIndex { return line }
                end = line.endIndex
            default: end = line.endIndex
            }
            place += 1
        }
        return line[..<end]
    }

    /// Whether a path is ignored, by itself or because a directory above it is.
    /// - Throws: The errors of the watch.
    mutating func isIgnored(
        _ path: [UInt8], isDirectory: Bool, _ watch: RuleWatch
    ) throws(SourceControlError) -> Bool {
        if let parent = path.lastIndex(of: Self.slash).map({ Array(path[..<$0]) }) {
            let isAbove: Bool
            if let known = directories[parent] {
                isAbove = known
            } else {
                isAbove = try isIgnored(parent, isDirectory: true, watch)
                directories[parent] = isAbove
            }
            if isAbove { return true }
        }
        return try isMatched(path, isDirectory: isDirectory, watch)
    }

    /// Whether the rules ignore a path, apart from its directories.
    /// - Throws: The errors of the watch.
    func isMatched(
        _ path: [UInt8], isDirectory: Bool, _ watch: RuleWatch
    ) throws(SourceControlError) -> Bool {
        let name = path.lastIndex(of: Self.slash).map { $0 + 1 } ?? 0
        func last(of patterns: [GitPattern], in base: Int) throws(SourceControlError) -> GitPattern? {
            for pattern in patterns.reversed() {
                try watch.count(pattern.steps(for: path))
                if pattern.matches(path, base: base, name: name, isDirectory: isDirectory) { return pattern }
            }
            return nil
        }
        // The nearest file decides, and in it the last line.
        var end = name
        while !files.isEmpty {
            if let patterns = files[Array(path[..<end])], let last = try last(of: patterns, in: end) {
                return !last.isNegative
            }
            guard end > 0 else { break }
            end = path[..<(end - 1)].lastIndex(of: Self.slash).map { $0 + 1 } ?? 0
        }
        for patterns in further.reversed() {
            if let last = try last(of: patterns, in: 0) { return !last.isNegative }
        }
        return false
    }
}
