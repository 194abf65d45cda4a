import Basics
import Encodings
import Foundation
import TestSupport

/// Numbers that are the same for the same seed (SplitMix64).
struct SeededNumbers: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: Int) { state = UInt64(truncatingIfNeeded: seed) &* 0x9e37_79b9_7f4a_7c15 }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var z = state
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }

    mutating func one<Element>(of elements: [Element]) -> Element { elements[Int(next() % UInt64(elements.count))] }
    /// Returns true with a probability in percent.
    mutating func happens(_ percent: Int) -> Bool { next() % 100 < UInt64(percent) }
    mutating func count(_ range: ClosedRange<Int>) -> Int { range.lowerBound + Int(next() % UInt64(range.count)) }
}

/// Generated files of a repository: rules of all kinds, unusual names, links, modes.
struct GeneratedTree {
    enum Content {
        case file([UInt8], isExecutable: Bool)
        case link([UInt8])
    }

    private(set) var files: [[UInt8]: Content] = [:]
    private(set) var rules: [[UInt8]: Content] = [:]
    private var directories: [[UInt8]] = [[]]
    private var numbers: SeededNumbers

    private static let names =
        [
            "a", "b", "foo", "bar", "a b", "x.o", "y.txt", "z.u16", "w.l1", "t.lfs", "#h", "!n", "ä", "A", "back\\s",
            "st*r", "[q]", "sp ",
            "build", "out", ".d", "-x", "\u{7f}", "tab\tx", "quo\"te", "line\nend",
        ].map { Array($0.utf8) } + [[0xff, 0xfe], Array("caf".utf8) + [0xe9]]

    init(seed: Int) {
        numbers = SeededNumbers(seed)
        for _ in 0..<numbers.count(1...5) {
            let directory = numbers.one(of: directories) + numbers.one(of: Self.names) + Array("/".utf8)
            if !directories.contains(directory) { directories.append(directory) }
        }
        for _ in 0..<numbers.count(4...14) { add() }
        for directory in directories {
            if directory.isEmpty || numbers.happens(40) {
                rules[directory + Array(".gitattributes".utf8)] = .file(attributes(), isExecutable: false)
            }
            if directory.isEmpty || numbers.happens(40) {
                rules[directory + Array(".gitignore".utf8)] = .file(ignored(), isExecutable: false)
            }
        }
    }

    /// Adds a file or link at a free path.
    /// - Returns: Its path; `nil` if the path is taken.
    @discardableResult
    mutating func add() -> [UInt8]? {
        let path = numbers.one(of: directories) + numbers.one(of: Self.names)
        guard files[path] == nil, !directories.contains(path + Array("/".utf8)) else { return nil }
        files[path] =
            numbers.happens(12)
            ? .link(numbers.one(of: Self.names)) : .file(content(of: path), isExecutable: numbers.happens(20))
        return path
    }

    /// Changes some files: it changes, removes and adds.
    /// - Returns: The expected content on the disk at each path; `nil` for a removed file.
    mutating func change() -> [[UInt8]: Content?] {
        var changes: [[UInt8]: Content?] = [:]
        for path in files.keys.sorted(by: { $0.lexicographicallyPrecedes($1) }) where numbers.happens(40) {
            changes[path] =
                numbers.happens(25) ? .some(nil) : .file(content(of: path), isExecutable: numbers.happens(30))
        }
        for _ in 0..<numbers.count(1...6) {
            if let path = add() { changes[path] = files[path] }
        }
        if numbers.happens(25) {
            changes[Array(".gitignore".utf8)] = .file(ignored(), isExecutable: false)
        }
        return changes
    }

    private mutating func content(of path: [UInt8]) -> [UInt8] {
        let lines = [
            "text\n", "text\r\n", "$Id$\n", "$Id: abc $ x $Id$\n", "$Id: a b c $\n", "$Id:\n$\n", "no end", "\r",
            "\u{0}\n", "äöü\n", "\u{1a}",
            "\t\u{1}\u{2}\n", "",
        ]
        var text = ""
        for _ in 0..<numbers.count(0...4) { text += numbers.one(of: lines) }
        if path.suffix(4).elementsEqual(".u16".utf8) {
            return [0xff, 0xfe] + text.utf16.flatMap { [UInt8($0 & 0xff), UInt8($0 >> 8)] }
        }
        if path.suffix(3).elementsEqual(".l1".utf8) { return text.unicodeScalars.map { UInt8($0.value) } }
        return Array(text.utf8)
    }

    // MARK: Rules

    private mutating func segment() -> String {
        switch numbers.count(0...9) {
        case 0...4:
            return String(decoding: numbers.one(of: Self.names).filter { $0 != 0x0a }, as: UTF8.self)
        case 5: return "*"
        case 6: return "**"
        case 7: return "*" + numbers.one(of: [".o", "o", "a", ".txt"])
        default:
            let parts = [
                "*", "?", "[a-f]", "[!a]", "[^b]", "[]a]", "[[:alpha:]]", "[[:upper:]]", "\\*", "\\", "a", "o", "f",
                "b", ".", "[a",
                "[[:nope:]]", "[a-]", "\\ ", " ", "[\\]]", "**",
            ]
            return (0..<numbers.count(1...4)).map { _ in numbers.one(of: parts) }.joined()
        }
    }

    private mutating func pattern() -> String {
        var text = (0..<numbers.one(of: [1, 1, 1, 2, 2, 3])).map { _ in segment() }.joined(separator: "/")
        if numbers.happens(20) { text = "/" + text }
        if numbers.happens(25) { text += "/" }
        return text
    }

    private mutating func ignored() -> [UInt8] {
        var lines: [String] = []
        for _ in 0..<numbers.count(1...6) {
            var line = pattern()
            if numbers.happens(30) { line = "!" + line }
            switch numbers.count(0...19) {
            case 0: line = "#" + line
            case 1: line = "\\" + line
            case 2: line += "  "
            case 3: line += "\\ "
            case 4: line += "\r"
            case 5: line = " " + line
            default: break
            }
            lines.append(line)
        }
        return start() + Array(lines.joined(separator: "\n").utf8) + end()
    }

    private mutating func attributes() -> [UInt8] {
        let words = [
            "text", "-text", "!text", "text=auto", "eol=crlf", "eol=lf", "crlf", "-crlf", "crlf=input", "ident",
            "-ident", "binary",
            "-binary", "!binary", "m1", "-m1", "m2", "foo=bar", "export-ignore", "a%b", "--x", "foo=", "text=",
        ]
        var lines = [
            "*.u16 text working-tree-encoding=UTF-16LE-BOM", "*.l1 text working-tree-encoding=ISO-8859-1",
            "*.lfs filter=lfs -text",
        ]
        .filter { _ in numbers.happens(60) }
        for _ in 0..<numbers.count(1...6) {
            var place = pattern()
            switch numbers.count(0...19) {
            case 0...2: place = "[attr]" + numbers.one(of: ["m1", "m2", "binary"])
            case 3...5:
                place = "\"" + place.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
            case 6: place = "!" + place
            case 7: place = "\"\\303\\244\""
            case 8: place = "#" + place
            default: break
            }
            lines.append(
                numbers.one(of: ["", "", " ", "\t"]) + place + numbers.one(of: [" ", "\t", "  "])
                    + (0..<numbers.count(0...3)).map { _ in numbers.one(of: words) }.joined(separator: " ")
                    + numbers.one(of: ["", "", "\r", " "]))
        }
        return Array(lines.joined(separator: "\n").utf8) + end()
    }

    private mutating func start() -> [UInt8] { numbers.happens(5) ? [0xef, 0xbb, 0xbf] : [] }
    private mutating func end() -> [UInt8] { numbers.happens(80) ? [0x0a] : [] }
}

extension Directory {
    /// Writes contents at paths, or removes files.
    func apply(_ contents: [[UInt8]: GeneratedTree.Content?]) throws {
        for (path, content) in contents.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
            if let slash = path.lastIndex(of: UInt8(ascii: "/")) { try makeDirectories(Array(path[..<slash])) }
            switch content {
            case .file(let bytes, let isExecutable)?:
                try remove(path)
                try write(path, bytes: bytes, mode: isExecutable ? 0o755 : 0o644)
            case .link(let target)?: try makeLink(path, target: target)
            case nil: try remove(path)
            }
        }
    }

    /// Returns everything except `.git`: the kind of each entry, and its bytes.
    func inventory() throws -> [[UInt8]: String] {
        var found: [[UInt8]: String] = [:]
        try walk(limit: 10_000, enters: { !$0.elementsEqual(".git".utf8) }) { path, status in
            switch status.kind {
            case .file:
                found[path] = (status.isExecutable ? "x " : "- ") + Hexadecimal.encode(try read(path, limit: 1 << 20))
            case .link: found[path] = "l " + Hexadecimal.encode(try linkTarget(path))
            case .directory, .other: break
            }
        }
        return found
    }
}
