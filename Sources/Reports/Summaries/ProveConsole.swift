import Model

/// A reader of the output of `prove`, with `-v` or without: a line for each file of tests, and a summary.
struct ProveConsole: SummaryReader {
    private let root: SourceRoot
    /// The files since the last summary. They count only if another summary follows.
    private var files: [(name: String, outcome: TestResult.Outcome?, message: String?)] = []
    private var places: [String: Int] = [:]
    private var isInSummary = false
    private var described: Int?
    private var all: (files: Int, tests: Int)?
    private var tests: [TestResult] = []
    private var problems: [String] = []
    private var notes: [String] = []
    private var isThere = false

    init(root: SourceRoot) { self.root = root }

    var isWithin: Bool { isInSummary || files.last.map { $0.outcome == nil } ?? false }

    mutating func consume(_ text: String) {
        if text.hasPrefix("Result: "), let all {
            end(text.dropFirst("Result: ".count), all)
        } else if text.hasPrefix("Files="), let comma = text.range(ofFirst: ", Tests=") {
            let number = text[comma.upperBound...].prefix { $0.isASCII && $0.isNumber }
            guard let count = TAPLine.number(text[..<comma.lowerBound].dropFirst("Files=".count)) else { return }
            all = (count, TAPLine.number(number) ?? 0)
        } else if text == "Test Summary Report" {
            isInSummary = true
        } else if isInSummary {
            describe(text)
        } else if let (name, rest) = Self.head(text) {
            open(name, rest)
        } else if let last = files.indices.last, files[last].outcome == nil {
            if text == "ok" { files[last].outcome = .passed }
            if text.hasPrefix("skipped") { files[last].outcome = .skipped }
            if text.hasPrefix("Dubious, ") || text.hasPrefix("No subtests run")
                || text.hasPrefix("Failed ") && text.has(" subtests")
            {
                files[last].outcome = .failed
            }
        }
    }

    private mutating func open(_ name: Substring, _ rest: Substring) {
        let outcome: TestResult.Outcome? =
            rest == "ok" || rest.hasPrefix("ok ")
            ? .passed
            : rest.hasPrefix("skipped")
                ? .skipped
                : rest.hasPrefix("Dubious, ") || rest.hasPrefix("Failed ") || rest.hasPrefix("No subtests")
                    ? .failed
                    : nil
        let name = TextLimit.cut(String(name), toBytes: TextLimit.nameBytes)
        let reason = rest.hasPrefix("skipped: ") ? String(rest.dropFirst("skipped: ".count)) : nil
        if let place = places[name] {
            // With several jobs, and on a terminal, a file's line is printed again.
            if let outcome { (files[place].outcome, files[place].message) = (outcome, reason) }
        } else if files.count < ReportContent.maximumItems {
            places[name] = files.count
            files.append((name, outcome, reason))
        }
    }

    /// Reads a line such as `t/b.t (Wstat: 256 (exited 1) Tests: 2 Failed: 1)`, and the lines below it.
    private mutating func describe(_ text: String) {
        if let mark = text.range(ofFirst: "(Wstat: "), let name = text[..<mark.lowerBound].split(separator: " ").first {
            let name = TextLimit.cut(String(name), toBytes: TextLimit.nameBytes)
            if places[name] == nil, files.count < ReportContent.maximumItems {
                places[name] = files.count
                files.append((name, nil, nil))
            }
            described = places[name]
            guard let described else { return }
            // prove also lists a file in which a test with TAP's directive `TODO` passed, which is no failure.
            if !text.has("(Wstat: 0 ") || !text.has(" Failed: 0)") { files[described].outcome = .failed }
        } else if let described, text.hasPrefix("  ") {
            if text.hasPrefix("  Parse errors: ") { files[described].outcome = .failed }
            files[described].message.append(line: String(text.drop { $0 == " " }))
        }
    }

    private mutating func end(_ verdict: Substring, _ all: (files: Int, tests: Int)) {
        (isThere, isInSummary, described, self.all) = (true, false, nil, nil)
        let isGood = verdict.hasPrefix("PASS") || verdict.hasPrefix("NOTESTS")
        let first = tests.count
        for file in files {
            let isFailed = file.outcome == .failed && !isGood
            // A line that looks like a file's but has no result is not one.
            guard let outcome = file.outcome else { continue }
            tests.append(
                TestResult(
                    suite: "", name: file.name, outcome: isFailed ? .failed : outcome == .failed ? .passed : outcome,
                    message: outcome == .passed ? nil : file.message, path: root.shown(file.name)))
        }
        if !isGood, !tests[first...].contains(where: \.outcome.isFailure) {
            problems.append("prove reports failed tests, but names none")
        }
        if isGood, all.tests > 0, tests.count == first {
            tests.append(TestResult(suite: "prove", name: "(tests that passed)", outcome: .passed))
        }
        notes.append("prove ran \(all.tests.counting("test")) in \(all.files.counting("file"))")
        (files, places) = ([], [:])
    }

    func content() -> ReportContent? {
        guard isThere else { return nil }
        var content = ReportContent(tests: JUnitRetries.numbered(tests), problems: problems, notes: notes)
        content.hasNoTests = tests.isEmpty && problems.isEmpty
        return content
    }

    /// Parses a line such as `t/a.t .. ok` or `[12:00:00] t/a.t ....... ok      12 ms`; `nil` for other lines.
    private static func head(_ text: String) -> (name: Substring, rest: Substring)? {
        guard text.utf8.count < 4096, let dots = text.range(ofFirst: " ..") else { return nil }
        var name = text[..<dots.lowerBound]
        if name.hasPrefix("["), let close = name.range(ofFirst: "] ") { name = name[close.upperBound...] }
        guard !name.isEmpty, !name.contains(where: \.isWhitespace) else { return nil }
        let rest = text[dots.upperBound...].drop { $0 == "." }
        guard rest.isEmpty || rest.first == " " else { return nil }
        return (name, rest.trimmingPrefix(while: \.isWhitespace).trimmingSuffix(while: \.isWhitespace))
    }
}
