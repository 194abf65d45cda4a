/// The attributes of a tree's files according to its `.gitattributes` files (gitattributes(5)).
struct AttributeRules {
    /// The longest accepted line in bytes, as in git 2.39.1 (`ATTR_MAX_LINE_LENGTH`).
    static let maximumLine = 2048

    enum Value: Hashable {
        case yes, no, unspecified
        case text([UInt8])
    }

    private typealias State = (name: String, value: Value)

    private struct Line {
        let pattern: PathPattern
        let states: [State]
    }

    private static let slash = UInt8(ascii: "/")
    private static let blanks = Array(" \t\r\n".utf8)

    /// The files' lines by directory, each with a slash at its end.
    private var files: [[UInt8]: [Line]] = [:]
    /// The lines of `info/attributes`, which win over all files.
    private var first: [Line] = []
    private var macros: [String: [State]] = [:]
    private let builtIn: [String: [State]] = ["binary": [("diff", .no), ("merge", .no), ("text", .no)]]

    /// Whether they give no file an attribute.
    var isEmpty: Bool { files.isEmpty && first.isEmpty }

    /// - Parameter directory: The file's directory, with a slash at its end; empty for the root.
    mutating func add(_ text: [UInt8], in directory: [UInt8]) {
        let lines = lines(text, in: directory, replacingMacros: false)
        if !lines.isEmpty { files[directory] = lines }
    }

    /// Adds the repository's own `info/attributes`, which wins over all others.
    mutating func addFirst(_ text: [UInt8]) { first = lines(text, in: [], replacingMacros: true) }

    /// - Parameter replacingMacros: Whether its macros replace known ones.
    private mutating func lines(_ text: [UInt8], in directory: [UInt8], replacingMacros: Bool) -> [Line] {
        var text = text.prefix { $0 != 0 }
        if text.starts(with: [0xef, 0xbb, 0xbf]) { text = text.dropFirst(3) }
        var (lines, defined): ([Line], [String: [State]]) = ([], [:])
        for line in text.split(separator: UInt8(ascii: "\n")) where line.count < Self.maximumLine {
            let line = line.drop(while: Self.blanks.contains)
            guard let first = line.first, first != UInt8(ascii: "#"), let read = Self.read(line) else { continue }
            if let macro = read.macro {
                if directory.isEmpty { defined[macro] = read.states }
            } else {
                let pattern = PathPattern(read.pattern[...], base: directory)
                if !pattern.isNegative { lines.append(Line(pattern: pattern, states: read.states)) }
            }
        }
        macros.merge(defined) { old, new in replacingMacros ? new : old }
        return lines
    }

    /// - Returns: `nil` for a line that git does not accept.
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

    /// Reads a pattern in double quotes, with C's escapes (quote.c).
    /// - Returns: The pattern and the text after it; `nil` if none begins, or it does not end.
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

    /// The attributes of a file.
    func values(of path: [UInt8]) -> [String: Value] {
        let name = path.lastIndex(of: Self.slash).map { $0 + 1 } ?? 0
        var values: [String: Value] = [:]
        fill(&values, first, path, name)
        var end = name
        while !files.isEmpty {
            if let lines = files[Array(path[..<end])] { fill(&values, lines, path, name) }
            guard end > 0 else { break }
            end = path[..<(end - 1)].lastIndex(of: Self.slash).map { $0 + 1 } ?? 0
        }
        return values
    }

    /// The first answer counts: the nearest file's, and in it the last line's.
    private func fill(_ values: inout [String: Value], _ lines: [Line], _ path: [UInt8], _ name: Int) {
        for line in lines.reversed() where line.pattern.matches(path, name: name, isDirectory: false) {
            fill(&values, line.states)
        }
    }

    private func fill(_ values: inout [String: Value], _ states: [State]) {
        for (name, value) in states.reversed() where values[name] == nil {
            values[name] = value
            if value == .yes, let macro = macros[name] ?? builtIn[name] { fill(&values, macro) }
        }
    }
}
