import Model

/// A reader of the output of PHPUnit.
struct PHPUnitConsole: SummaryReader {
    private enum Section { case none, failures, skips, others }

    private var run: SummedRun
    private var isThere = false
    /// The number of lines since PHPUnit's version; the lines with its settings follow it.
    private var sinceVersion = Int.max
    private var section = Section.none
    private var current: Int?

    init(root: SourceRoot) { run = SummedRun(tool: "PHPUnit", root: root) }

    var isWithin: Bool { isThere }

    mutating func consume(_ text: String) {
        sinceVersion = sinceVersion == Int.max ? Int.max : sinceVersion + 1
        if text.hasPrefix("PHPUnit "), text.has(" by Sebastian Bergmann") {
            (isThere, section, current, sinceVersion) = (true, .none, nil, 0)
            return
        }
        guard isThere else { return }
        if Self.isProgress(text) || sinceVersion <= Self.maximumHeadLines && Self.isSetting(text) {
            run.begin()
        } else if text.hasPrefix("OK ("), text.has(" assertion"), text.hasSuffix(")") {
            end(SummedRun.counts(text.dropFirst(4).dropLast()))
        } else if text.hasPrefix("Tests: "), text.has("Assertions: ") {
            end(SummedRun.counts(text[...]))
        } else if text == "No tests executed!" {
            end(["test": 0])
        } else if text.hasPrefix("There was ") || text.hasPrefix("There were "), text.hasSuffix(":") {
            section =
                text.has("failure") || text.has("error")
                ? .failures
                : text.has("skipped") || text.has("incomplete") ? .skips : .others
            current = nil
        } else if section != .none, let name = Self.entry(text) {
            current =
                section == .others
                ? nil : run.add(suite: name.suite, name.name, section == .failures ? .failed : .skipped)
        } else if let current, !text.allSatisfy(\.isWhitespace), text != "--", text != "FAILURES!", text != "ERRORS!" {
            if let place = PrintedPlace(text), text.hasPrefix("/") {
                run.locate(current, at: place)
            } else {
                run.describe(current, text)
            }
        }
    }

    private mutating func end(_ counts: [String: Int]) {
        run.end(
            all: counts["test", default: 0], failed: counts["failure", default: 0] + counts["error", default: 0],
            skipped: counts["skipped", default: 0] + counts["incomplete", default: 0])
        (isThere, section, current) = (false, .none, nil)
    }

    func content() -> ReportContent? { run.content() }

    /// The most lines from the version to the last line on the settings.
    private static let maximumHeadLines = 4

    /// Returns whether a line after the version shows that tests will run: `Runtime:       PHP 8.2.7`, `Configuration: /kit/phpunit.xml`. After
    /// `phpunit --version` there is no such line.
    private static func isSetting(_ text: String) -> Bool {
        text.hasPrefix("Runtime: ") && text.has(" PHP ") || text.hasPrefix("Configuration: ") && text.has(".xml")
    }

    /// Returns whether a line is PHPUnit's progress: `..F.S           5 / 5 (100%)`. Marks without a count can be another tool's.
    private static func isProgress(_ text: String) -> Bool {
        let marks = text.prefix { ".FEWRSIDNT".contains($0) }
        let rest = text.dropFirst(marks.count).drop { $0 == " " }
        return !marks.isEmpty && rest.first?.isNumber == true && rest.has(" / ") && rest.hasSuffix("%)")
    }

    /// Parses a line such as `1) Kit\\ParserTest::testIt with data set #0 (1, 2)`; `nil` for other lines.
    private static func entry(_ text: String) -> (suite: String, name: Substring)? {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        let rest = text.dropFirst(digits.count)
        guard !digits.isEmpty, rest.hasPrefix(") "), let colons = rest.range(ofFirst: "::") else { return nil }
        return (String(rest[..<colons.lowerBound].dropFirst(2)), rest[colons.upperBound...])
    }
}
