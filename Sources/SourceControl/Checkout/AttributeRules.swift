/// The attributes of a tree's files according to its `.gitattributes` files (gitattributes(5)).
struct AttributeRules {
    /// The longest accepted line in bytes, as in git 2.39.1 (`ATTR_MAX_LINE_LENGTH`).
    static let maximumLine = 2048

    enum Value: Hashable {
        case yes, no, unspecified
        case text([UInt8])
    }

    fileprivate typealias State = (name: String, value: Value)

    fileprivate struct Line {
        let pattern: GitPattern
        let states: [State]
    }

    /// The lines of a file, in whatever directory it is.
    struct File {
        fileprivate private(set) var lines: [Line] = []
        fileprivate private(set) var macros: [String: [State]] = [:]

        /// The number of its rules.
        var count: Int { lines.count + macros.count }

        init(_ text: [UInt8]) {
            var text = text.prefix { $0 != 0 }
            if text.starts(with: [0xef, 0xbb, 0xbf]) { text = text.dropFirst(3) }
            for line in text.split(separator: UInt8(ascii: "\n")) where line.count < maximumLine {
                let line = line.drop(while: blanks.contains)
                guard let first = line.first, first != UInt8(ascii: "#"), let read = read(line) else { continue }
                if let macro = read.macro {
                    macros[macro] = read.states
                } else {
                    let pattern = GitPattern(read.pattern[...])
                    if !pattern.isNegative { lines.append(Line(pattern: pattern, states: read.states)) }
                }
            }
        }
    }

    private static let slash = UInt8(ascii: "/")
    private static let blanks = Array(" \t\r\n".utf8)

    /// The files' lines by directory. Each directory's path has a slash at its end.
    private var files: [[UInt8]: [Line]] = [:]
    /// The lines of `info/attributes`, which take precedence over all files.
    private var first: [Line] = []
    private var macros: [String: [State]] = [:]
    private let builtIn: [String: [State]] = ["binary": [("diff", .no), ("merge", .no), ("text", .no)]]

    /// Whether no file gets an attribute from them.
    var isEmpty: Bool { files.isEmpty && first.isEmpty }

    /// Adds the rules of a file. Macros count only in the root.
    /// - Parameter directory: The directory of the file, with a slash at its end; empty for the root.
    mutating func add(_ file: File, in directory: [UInt8]) {
        if !file.lines.isEmpty { files[directory] = file.lines }
        if directory.isEmpty { macros.merge(file.macros) { old, _ in old } }
    }

    /// Adds the repository's own `info/attributes`. Its lines are consulted before all others, and its macros replace known ones.
    mutating func addFirst(_ text: [UInt8]) {
        let file = File(text)
        first = file.lines
        macros.merge(file.macros) { _, new in new }
    }

    /// Reads a line. Returns `nil` if git does not accept it.
    private static func read(_ line: ArraySlice<UInt8>) -> (pattern: [UInt8], macro: String?, states: [State])? {
        var (pattern, rest): ([UInt8], ArraySlice<UInt8>)
        if let quoted = unquoted(line) {
            (pattern, rest) = quoted
        } else {
            pattern = Array(line.prefix { !blanks.contains($0) })
            rest = line.dropFirst(pattern.count)
        }
        var macro: String?
        if pattern.count > 6, pattern.starts(with: "[attr]".utf8) {
            let name = pattern.dropFirst(6).drop(while: blanks.contains).prefix { !blanks.contains($0) }
            guard isName(name) else { return nil }
            macro = String(decoding: name, as: UTF8.self)
        }
        var states: [State] = []
        for word in rest.split(whereSeparator: blanks.contains) {
            var word = word
            let prefix = word.first
            let isMarked = prefix == UInt8(ascii: "-") || prefix == UInt8(ascii: "!")
            if isMarked { word = word.dropFirst() }
            let name = word.prefix { $0 != UInt8(ascii: "=") }
            guard isName(name) else { return nil }
            let value: Value
            if isMarked {
                value = prefix == UInt8(ascii: "-") ? .no : .unspecified
            } else {
                value = name.count == word.count ? .yes : .text(Array(word.dropFirst(name.count + 1)))
            }
            states.append((String(decoding: name, as: UTF8.self), value))
        }
        return (pattern, macro, states)
    }

    private static func isName(_ name: ArraySlice<UInt8>) -> Bool {
        guard let first = name.first, first != UInt8(ascii: "-") else { return false }
        return name.allSatisfy {
            (0x30...0x39).contains($0) || (0x41...0x5a).contains($0) || (0x61...0x7a).contains($0)
                || "-._".utf8.contains($0)
        }
    }

    /// Reads a pattern in double quotes, with the escapes of C (quote.c).
    /// - Returns: The pattern and the text after it. `nil` if no quote begins, or if it does not end.
    private static func unquoted(_ line: ArraySlice<UInt8>) -> ([UInt8], ArraySlice<UInt8>)? {
        guard line.first == UInt8(ascii: "\"") else { return nil }
        let escapes: [UInt8: UInt8] = [
            UInt8(ascii: "a"): 0x07, UInt8(ascii: "b"): 0x08, UInt8(ascii: "f"): 0x0c, UInt8(ascii: "n"): 0x0a,
            UInt8(ascii: "r"): 0x0d, UInt8(ascii: "t"): 0x09, UInt8(ascii: "v"): 0x0b, UInt8(ascii: "\\"): 0x5c,
            UInt8(ascii: "\""): 0x22,
        ]
        var (pattern, rest): ([UInt8], ArraySlice<UInt8>) = ([], line.dropFirst())
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "\"") { return (pattern, rest) }
            guard byte == UInt8(ascii: "\\") else {
                pattern.append(byte)
                continue
            }
            guard let escaped = rest.popFirst() else { return nil }
            if let plain = escapes[escaped] {
                pattern.append(plain)
            } else {
                let digits = [escaped] + rest.prefix(2)
                guard digits.count == 3, (0x30...0x33).contains(escaped),
                    digits.allSatisfy({ (0x30...0x37).contains($0) })
                else { return nil }
                pattern.append(digits.reduce(0) { $0 << 3 | ($1 - 0x30) })
                rest = rest.dropFirst(2)
            }
        }
        return nil
    }

    /// Returns the attributes of a file.
    /// - Throws: The errors of the watch.
    func values(of path: [UInt8], _ watch: RuleWatch) throws(SourceControlError) -> [String: Value] {
        let name = path.lastIndex(of: Self.slash).map { $0 + 1 } ?? 0
        var values: [String: Value] = [:]
        // The first value counts: the nearest file's, and in it the last line's.
        func fill(_ lines: [Line], in base: Int) throws(SourceControlError) {
            for line in lines.reversed() {
                try watch.count(line.pattern.steps(for: path))
                guard line.pattern.matches(path, base: base, name: name, isDirectory: false) else { continue }
                try self.fill(&values, line.states, watch)
            }
        }
        try fill(first, in: 0)
        var end = name
        while !files.isEmpty {
            if let lines = files[Array(path[..<end])] { try fill(lines, in: end) }
            guard end > 0 else { break }
            end = path[..<(end - 1)].lastIndex(of: Self.slash).map { $0 + 1 } ?? 0
        }
        return values
    }

    /// Adds the values of a line, and of the macros that it sets. A macro's values take precedence over the attributes that precede it, as in git.
    private func fill(
        _ values: inout [String: Value], _ states: [State], _ watch: RuleWatch
    ) throws(SourceControlError) {
        // This uses a list in place of recursion, because each of 70,000 macros can set the next.
        var pending = states
        while let (name, value) = pending.popLast() {
            try watch.count(1)
            guard values[name] == nil else { continue }
            values[name] = value
            // Each attribute is set once, so this ends.
            if value == .yes, let macro = macros[name] ?? builtIn[name] { pending += macro }
        }
    }
}
