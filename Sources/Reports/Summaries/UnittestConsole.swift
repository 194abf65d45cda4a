import Model

/// A reader of the output of Python's `unittest`, with `-v` or without. Django's tests print the same.
struct UnittestConsole: SummaryReader {
    private var run: SummedRun
    private var isAfterRule = false
    /// The number in `Ran 3 tests in 0.001s`, whose verdict is in one of the next lines.
    private var ran: Int?
    /// Failures and results printed since the last run. They count only if a summary follows.
    private var held: [String] = []
    private var heldBytes = 0

    private static let maximumHeldBytes = 4 << 20

    init(root: SourceRoot) { run = SummedRun(tool: "unittest", root: root) }

    var isWithin: Bool { isAfterRule || !held.isEmpty || ran != nil }

    mutating func consume(_ text: String) {
        if let count = ran {
            if text == "OK" || text.hasPrefix("OK (") || text == "FAILED" || text.hasPrefix("FAILED (")
                || text.hasPrefix("NO TESTS RAN")
            {
                ran = nil
                return end(count, text)
            }
            if !text.allSatisfy(\.isWhitespace) { ran = nil }
        }
        if text.hasPrefix("Ran "), text.hasSuffix("s"), text.utf8.count < 80 {
            let words = text.split(separator: " ")
            if words.count == 5, words[3] == "in", let count = TAPLine.number(words[1]) { ran = count }
            return
        }
        let isRule = text.count == 70 && text.allSatisfy { $0 == "=" }
        let isHead = isAfterRule && (text.hasPrefix("FAIL: ") || text.hasPrefix("ERROR: "))
        isAfterRule = isRule
        if isHead || !held.isEmpty || Self.result(text) != nil { hold(text) }
    }

    private mutating func hold(_ text: String) {
        guard heldBytes + text.utf8.count <= Self.maximumHeldBytes else { return }
        // Each text also needs some memory of its own.
        heldBytes += text.utf8.count + 16
        held.append(text)
    }

    private mutating func end(_ count: Int, _ verdict: String) {
        var failing: Int?
        for text in held {
            if text.hasPrefix("FAIL: ") || text.hasPrefix("ERROR: "), let colon = text.range(ofFirst: ": ") {
                let (suite, name) = Self.name(text[colon.upperBound...])
                failing = run.add(suite: suite, name, .failed)
            } else if let (suite, name, outcome) = Self.result(text) {
                run.add(suite: suite, name, outcome)
            } else if text.first == "=" || text.first == "-", text.count == 70 {
                continue
            } else if let failing {
                run.describe(failing, text)
                // The form is `  File "/kit/test_a.py", line 4, in test_b`.
                if text.hasPrefix("  File \""), let quote = text.range(ofFirst: "\", line ") {
                    let number = text[quote.upperBound...].prefix { $0.isASCII && $0.isNumber }
                    let path = text[..<quote.lowerBound].dropFirst("  File \"".count)
                    run.locate(failing, at: PrintedPlace("\(path):\(number)"), isNearer: !path.contains("/lib/python"))
                }
            }
        }
        (held, heldBytes) = ([], 0)
        let counts = verdict.firstIndex(of: "(").map { SummedRun.counts(verdict[$0...].dropFirst().dropLast()) } ?? [:]
        let failed = counts["failure", default: 0] + counts["error", default: 0] + counts["unexpected", default: 0]
        run.end(
            all: count, failed: verdict.hasPrefix("FAILED") ? max(1, failed) : 0, skipped: counts["skipped", default: 0]
        )
        if verdict.hasPrefix("FAILED"), failing == nil, counts["unexpected"] != nil {
            run.add(problem: "unittest reports an unexpected success: a test passed that was expected to fail")
        }
    }

    func content() -> ReportContent? { run.content() }

    /// Splits a name such as `test_b (kit.T.test_b) (i=1)`, or `test_b (kit.T)` before Python 3.11.
    private static func name(_ text: Substring) -> (suite: String, name: Substring) {
        let name = text.prefix { $0 != " " }
        let rest = text.dropFirst(name.count)
        guard rest.hasPrefix(" ("), let close = rest.firstIndex(of: ")") else { return ("", text) }
        var suite = rest[..<close].dropFirst(2)
        if suite.hasSuffix("." + name) { suite = suite.dropLast(name.count + 1) }
        return (String(suite), name)
    }

    /// Parses a line such as `test_a (kit.T.test_a) ... ok`; `nil` for other lines.
    private static func result(_ text: String) -> (suite: String, name: Substring, outcome: TestResult.Outcome)? {
        guard text.utf8.count < 2000, let mark = text.range(ofLast: ") ... "), !text.hasPrefix(" ") else { return nil }
        let outcome: TestResult.Outcome
        switch text[mark.upperBound...] {
        case "ok": outcome = .passed
        case "FAIL", "ERROR", "unexpected success": outcome = .failed
        case "expected failure": outcome = .knownIssue
        case let word where word.hasPrefix("skipped"): outcome = .skipped
        default: return nil
        }
        let (suite, name) = name(text[..<mark.lowerBound] + ")")
        return suite.isEmpty ? nil : (suite, name, outcome)
    }
}
