import Model

/// Reads what linters print for people, with a place in each line or, as eslint, under the name of the file.
struct LintLines: Sendable {
    private let root: SourceRoot
    private var findings: [Finding] = []
    private var seen: Set<Finding> = []
    /// eslint's file, whose findings are beneath it.
    private var file: String?
    /// ruff's message, whose place comes in the next line.
    private var waiting: (rule: String, message: String)?

    init(root: SourceRoot) { self.root = root }

    mutating func take(_ text: String) {
        if let found = LintLine(text) {
            (waiting, file) = (nil, nil)
            add(found.message, rule: found.rule, place: found.place)
        } else if let waiting, let place = Self.arrow(text) {
            self.waiting = nil
            add(waiting.message, rule: waiting.rule, place: place)
        } else if let file, let found = Self.beneath(text) {
            add(found.message, rule: found.rule, place: PrintedPlace("\(file):\(found.line):\(found.column)"))
        } else {
            waiting = Self.ruff(text)
            if text.hasPrefix("/"), !text.contains(where: \.isWhitespace) { file = text }
        }
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

    /// ` --> a.py:1:8`
    static func arrow(_ text: String) -> PrintedPlace? {
        let line = text.drop { $0 == " " }
        guard line.hasPrefix("--> ") else { return nil }
        return PrintedPlace(line.dropFirst(4).trimmingSuffix(while: \.isWhitespace))
    }

    /// `F401 [*] 'os' imported but unused`
    private static func ruff(_ text: String) -> (rule: String, message: String)? {
        guard let first = text.utf8.first, (0x41...0x5A).contains(first) else { return nil }
        guard let line = LintLine("a.py:1:1: " + TextLimit.cut(text, toBytes: 4096)), line.rule.last?.isNumber == true
        else { return nil }
        return (line.rule, line.message)
    }

    /// `  2:10  error    'unusedf' is defined but never used             no-unused-vars`
    static func beneath(_ text: String) -> (line: Int, column: Int, message: String, rule: String)? {
        guard text.hasPrefix(" "), text.utf8.count <= 16 * 1024 else { return nil }
        let words = text.split(separator: " ", maxSplits: 2)
        guard words.count == 3, words[1] == "error" || words[1] == "warning" else { return nil }
        let numbers = words[0].split(separator: ":", omittingEmptySubsequences: false)
        guard numbers.count == 2, let line = TAPLine.number(numbers[0]), let column = TAPLine.number(numbers[1]) else {
            return nil
        }
        let rest = words[2].trimmingPrefix { $0 == " " }.trimmingSuffix(while: \.isWhitespace)
        guard let gap = rest.range(ofLast: "  ") else { return (line, column, String(rest), "") }
        let message = rest[..<gap.lowerBound].trimmingSuffix { $0 == " " }
        return (line, column, String(message), String(rest[gap.upperBound...]))
    }

    /// The findings of a file of such lines, and of compilers' diagnostics; a file without one is unreadable, since it looks
    /// the same as output of something else.
    static func read(_ bytes: [UInt8], root: SourceRoot) -> ReportContent {
        var reader = AnalyzerLines(root: root)
        LogLines.forEach(in: bytes) { reader.take($0) }
        let findings = reader.finish()
        return findings.isEmpty ? .unreadable(ReportFormat.unknown) : ReportContent(findings: findings)
    }
}
