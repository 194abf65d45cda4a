import Model

/// A reader of the output of automake's `make check`: a line for each test, and a summary.
struct AutomakeConsole: SummaryReader {
    private var run: SummedRun
    /// The results since the last summary. They count only if another summary follows.
    private var held: [(name: String, outcome: TestResult.Outcome)] = []
    private var counts: [String: Int]?

    init(root: SourceRoot) { run = SummedRun(tool: "automake", root: root) }

    var isWithin: Bool { counts != nil }

    mutating func consume(_ text: String) {
        if text.hasPrefix("Testsuite summary for ") {
            counts = [:]
        } else if counts != nil, text.hasPrefix("# ") {
            let words = text.dropFirst(2).split { $0 == " " || $0 == ":" }
            guard words.count == 2, let number = TAPLine.number(words[1]) else { return }
            counts?[String(words[0])] = number
            if words[0] == "ERROR" { end() }
        } else if let found = Self.result(text), held.count < ReportContent.maximumItems {
            held.append(found)
        }
    }

    private mutating func end() {
        let counts = counts ?? [:]
        self.counts = nil
        for test in held { run.add(test.name, test.outcome) }
        held = []
        let failed = ["FAIL", "XPASS", "ERROR"].reduce(0) { $0 + counts[$1, default: 0] }
        run.end(all: counts["TOTAL", default: 0], failed: failed, skipped: counts["SKIP", default: 0])
    }

    func content() -> ReportContent? { run.content() }

    /// Parses a line such as `PASS: tests/a.sh` or `XFAIL: tests/b.test 2 - later`; `nil` for other lines.
    private static func result(_ text: String) -> (name: String, outcome: TestResult.Outcome)? {
        guard let colon = text.range(ofFirst: ": "), let outcome = outcome(text[..<colon.lowerBound]) else {
            return nil
        }
        return (TextLimit.cut(String(text[colon.upperBound...]), toBytes: TextLimit.nameBytes), outcome)
    }

    /// Returns the outcome of automake's words (GNU Automake manual, 15.2.1); `nil` for other words. A test that passed unexpectedly has failed.
    private static func outcome(_ word: Substring) -> TestResult.Outcome? {
        switch word {
        case "PASS": .passed
        case "FAIL", "XPASS", "ERROR": .failed
        case "SKIP": .skipped
        case "XFAIL": .knownIssue
        default: nil
        }
    }

    /// Reads a test's `.trs` file: `:test-result: PASS`, or `:test-result: FAIL 2 - adds` from a driver of several tests.
    ///
    /// Results without a name get the test's name, which is the file's, from `ReportReader`.
    static func readResult(_ bytes: [UInt8]) -> ReportContent {
        var content = ReportContent()
        LogLines.forEach(in: bytes) { line in
            guard line.begins(with: ":test-result: "), content.tests.count < ReportContent.maximumItems else { return }
            let text = line.text.dropFirst(":test-result: ".count)
            let word = text.prefix { $0 != " " }
            let name = text.dropFirst(word.count).trimmingPrefix(while: \.isWhitespace)
            guard let outcome = outcome(word) else {
                if content.problems.isEmpty {
                    content.problems.append(
                        "\(TextLimit.cut(String(word), toBytes: 40)) is not a result that automake writes")
                }
                return
            }
            content.tests.append(
                TestResult(
                    suite: "", name: TextLimit.cut(String(name), toBytes: TextLimit.nameBytes), outcome: outcome))
        }
        content.tests = JUnitRetries.numbered(content.tests)
        return content
    }
}
