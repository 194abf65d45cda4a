import Glibc
import Model

/// A reader of linters' human-readable output, with a place in each line or, as eslint prints it, below the name of the file.
struct LintLines: Sendable {
    private let root: SourceRoot
    private var findings: [Finding] = []
    private var seen: Set<Finding> = []
    /// The file that eslint named, whose findings follow.
    private var file: String?
    /// ruff's or bandit's message, whose place comes in a later line.
    private var waiting: (rule: String, message: String)?
    /// The place of shellcheck's current block in its terminal format, whose findings follow.
    private var block: PrintedPlace?
    /// Whether shellcheck's list of links has begun.
    private var isInLinks = false

    init(root: SourceRoot) { self.root = root }

    /// Reads a line.
    /// - Returns: Whether the line is a finding or belongs to one.
    @discardableResult
    mutating func consume(_ text: String) -> Bool {
        if let found = LintLine(text) {
            (waiting, file, block) = (nil, nil, nil)
            add(found.message, rule: found.rule, place: found.place)
        } else if let waiting, let place = Self.arrow(text) ?? Self.banditPlace(text) {
            self.waiting = nil
            add(waiting.message, rule: waiting.rule, place: place)
        } else if let file, let found = Self.beneath(text) ?? Self.simpleCop(text) {
            add(found.message, rule: found.rule, place: PrintedPlace("\(file):\(found.line):\(found.column)"))
        } else if let place = Self.shellcheckBlock(text) {
            (block, isInLinks, file) = (place, false, nil)
        } else if let place = block, !isInLinks || text.first == " " {
            takeBlock(text, at: place)
        } else if let found = LintLine.bare(text) {
            (waiting, file) = (nil, nil)
            add(found.message, rule: "", place: found.place)
        } else if let found = Self.bandit(text) ?? Self.ruff(text) {
            waiting = found
        } else if waiting != nil, text.first == " " {
            return true
        } else {
            (waiting, block) = (nil, nil)
            if let named = Self.fileAlone(text) { file = named }
            return text.first == " " && !findings.isEmpty
        }
        return true
    }

    /// Skips a line that cannot be a finding, without making a string of it. Outside of findings of several lines, most lines have words and no
    /// colon.
    /// - Returns: The result of `take`; `nil` if the line must be read.
    func passOver(_ line: LogLine) -> Bool? {
        let bytes = line.bytes
        guard waiting == nil, block == nil, bytes.count > 1, let base = bytes.baseAddress,
            memchr(base, Int32(UInt8(ascii: ":")), bytes.count) == nil, memchr(base, 0x1B, bytes.count) == nil,
            let blank = memchr(base, Int32(UInt8(ascii: " ")), bytes.count)
        else { return nil }
        switch bytes[0] {
        // `== a.rb ==` names a file.
        case UInt8(ascii: "="): return nil
        // This is a blank without combining characters.
        case UInt8(ascii: " "): return bytes[1] < 0x80 ? !findings.isEmpty : nil
        case UInt8(ascii: "A")...UInt8(ascii: "Z"):
            // `F401 unused`, `Unused import [W1]`
            let word = bytes[..<(UnsafeRawPointer(blank) - base)]
            let mayBeCode = word.contains { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            return mayBeCode || memchr(base, Int32(UInt8(ascii: "]")), bytes.count) != nil ? nil : false
        default: return false
        }
    }

    /// Reads a line of the block below `In a.sh line 2:`: the source, `     ^-- SC2086 (info): Double quote …`, or suggestions.
    private mutating func takeBlock(_ text: String, at place: PrintedPlace) {
        if text.hasPrefix("For more information:") { isInLinks = true }
        let rest = text.drop { $0 == " " }
        let mark = rest.prefix { $0 == "^" || $0 == "-" }
        guard !isInLinks, mark.first == "^", let end = rest.range(ofFirst: "): ") else { return }
        let head = rest[mark.endIndex..<end.lowerBound].drop { $0 == " " }
        guard head.hasPrefix("SC"), let blank = head.firstIndex(of: " "), head[blank...].hasPrefix(" (") else { return }
        var place = place
        place.column = text.utf8.count - rest.utf8.count + 1
        add(String(rest[end.upperBound...]), rule: String(head[..<blank]), place: place)
    }

    /// Returns the place in a line such as `In a.sh line 2:`; `nil` for other lines.
    private static func shellcheckBlock(_ text: String) -> PrintedPlace? {
        guard text.hasPrefix("In "), text.hasSuffix(":"), let mark = text.range(ofLast: " line ") else { return nil }
        let path = text[..<mark.lowerBound].dropFirst(3)
        guard !path.isEmpty, path.utf8.count <= SourceRoot.maximumPathBytes,
            TAPLine.number(text[mark.upperBound...].dropLast()) != nil
        else { return nil }
        return PrintedPlace("\(path):\(text[mark.upperBound...].dropLast())")
    }

    /// Parses a line such as `>> Issue: [B101:assert_used] Use of assert detected.`; `nil` for other lines.
    private static func bandit(_ text: String) -> (rule: String, message: String)? {
        guard text.hasPrefix(">> Issue: ["), let end = text.range(ofFirst: "] "), text.utf8.count <= 16 * 1024 else {
            return nil
        }
        let rule = text[..<end.lowerBound].dropFirst(">> Issue: [".count).prefix { $0 != ":" }
        return (String(rule), String(text[end.upperBound...]))
    }

    /// Returns the place in a line such as `   Location: ./a.py:5:4`; `nil` for other lines.
    private static func banditPlace(_ text: String) -> PrintedPlace? {
        guard text.hasPrefix("   Location: ") else { return nil }
        return PrintedPlace(text.dropFirst("   Location: ".count).trimmingSuffix(while: \.isWhitespace))
    }

    /// Parses a line such as `C:  3:  1: [Correctable] Style/StringLiterals: Prefer …`, which rubocop's format `simple` prints below `== a.rb ==`.
    /// `nil` for other lines.
    private static func simpleCop(_ text: String) -> (line: Int, column: Int, message: String, rule: String)? {
        guard let letter = text.first, "CRWEF".contains(letter), text.utf8.count <= 16 * 1024 else { return nil }
        let words = text.dropFirst().split(separator: ":", maxSplits: 3, omittingEmptySubsequences: false)
        guard words.count == 4, words[0].isEmpty, let line = TAPLine.number(words[1].drop { $0 == " " }),
            let column = TAPLine.number(words[2].drop { $0 == " " }),
            let found = LintLine("a.rb:1:1: \(letter):\(words[3])")
        else { return nil }
        return (line, column, found.message, found.rule)
    }

    /// Returns the file of a line that consists of a file's name: eslint's `/kit/a.js`, yamllint's `a.yml`, rubocop's `== a.rb ==`. `nil` for other
    /// lines.
    private static func fileAlone(_ text: String) -> String? {
        var name = text[...]
        if name.hasPrefix("== "), name.hasSuffix(" ==") { name = name.dropFirst(3).dropLast(3) }
        guard name.utf8.count <= SourceRoot.maximumPathBytes, !name.contains(where: \.isWhitespace),
            name.contains("/") || name.contains(".") && name.contains(where: \.isLetter)
        else { return nil }
        return String(name)
    }

    private mutating func add(_ message: String, rule: String, place: PrintedPlace?) {
        guard findings.count < DiagnosticReader.maximumFindings, let place else { return }
        let finding = Finding(
            category: .analyzerWarning, message: TextLimit.cut(message, toBytes: Finding.maximumMessageBytes),
            rule: TextLimit.cut(rule, toBytes: TextLimit.nameBytes), path: root.shown(place.path), line: place.line,
            column: place.column)
        if seen.insert(finding).inserted { findings.append(finding) }
    }

    func finish() -> [Finding] { findings }

    /// Returns the place in a line such as ` --> a.py:1:8`; `nil` for other lines.
    static func arrow(_ text: String) -> PrintedPlace? {
        let line = text.drop { $0 == " " }
        guard line.hasPrefix("--> ") else { return nil }
        return PrintedPlace(line.dropFirst(4).trimmingSuffix(while: \.isWhitespace))
    }

    /// Parses a line such as `F401 [*] 'os' imported but unused`; `nil` for other lines.
    private static func ruff(_ text: String) -> (rule: String, message: String)? {
        guard let first = text.utf8.first, (0x41...0x5A).contains(first) else { return nil }
        guard let line = LintLine("a.py:1:1: " + TextLimit.cut(text, toBytes: 4096)), line.rule.last?.isNumber == true
        else { return nil }
        return (line.rule, line.message)
    }

    /// Parses a line such as `  2:10  error    'unusedf' is defined but never used             no-unused-vars`; `nil` for other lines.
    static func beneath(_ text: String) -> (line: Int, column: Int, message: String, rule: String)? {
        guard text.hasPrefix(" "), text.utf8.count <= 16 * 1024 else { return nil }
        let words = text.split(separator: " ", maxSplits: 2)
        guard words.count == 3, words[1] == "error" || words[1] == "warning" else { return nil }
        let numbers = words[0].split(separator: ":", omittingEmptySubsequences: false)
        guard numbers.count == 2, let line = TAPLine.number(numbers[0]), let column = TAPLine.number(numbers[1]) else {
            return nil
        }
        let rest = words[2].trimmingPrefix { $0 == " " }.trimmingSuffix(while: \.isWhitespace)
        // yamllint: `too many spaces after colon  (colons)`
        if rest.last == ")", let gap = rest.range(ofLast: "  ("), let found = LintLine.parenthesisedRule(rest),
            rest[gap.upperBound...].dropLast() == found.rule
        {
            return (line, column, found.message, found.rule)
        }
        guard let gap = rest.range(ofLast: "  ") else { return (line, column, String(rest), "") }
        let message = rest[..<gap.lowerBound].trimmingSuffix { $0 == " " }
        return (line, column, String(message), String(rest[gap.upperBound...]))
    }

    /// Returns the findings of a file with such lines, and with compilers' diagnostics. A file without a finding is unreadable, since other output
    /// looks the same.
    static func read(_ bytes: [UInt8], root: SourceRoot) -> ReportContent {
        var reader = AnalyzerLines(root: root)
        LogLines.forEach(in: bytes) { reader.consume($0) }
        let findings = reader.finish()
        return findings.isEmpty ? .unreadable(ReportFormat.unknown) : ReportContent(findings: findings)
    }
}
