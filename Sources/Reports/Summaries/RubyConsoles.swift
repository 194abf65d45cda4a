import Model

/// A reader of the output of RSpec, in any of its human-readable formats.
struct RSpecConsole: SummaryReader {
    private var run: SummedRun
    private var messages: [String: [String]] = [:]
    private var name: String?
    private var lines: [String] = []
    private var isInFailures = false
    /// The number of lines since the time was printed; the summary follows it.
    private var sinceTime = Int.max
    private var isAfterSummary = false

    private static let maximumMessageLines = 50

    init(root: SourceRoot) { run = SummedRun(tool: "RSpec", root: root) }

    var isWithin: Bool { isInFailures || isAfterSummary || sinceTime < 3 }

    mutating func consume(_ text: String) {
        sinceTime = sinceTime == Int.max ? Int.max : sinceTime + 1
        if text.hasPrefix("Finished in "), text.has("files took ") {
            endMessage()
            (sinceTime, isInFailures) = (0, false)
        } else if sinceTime < 3, text.has(" example"), text.first?.isNumber == true {
            let counts = SummedRun.counts(text[...])
            guard let all = counts["example"] else { return }
            run.end(all: all, failed: counts["failure", default: 0], skipped: counts["pending", default: 0])
            if let errors = counts["error"], errors > 0 {
                run.add(problem: "RSpec reports: \(errors.counting("error")) occurred outside of examples")
            }
            (sinceTime, isAfterSummary) = (.max, true)
        } else if isAfterSummary, text.hasPrefix("rspec "), let mark = text.range(ofFirst: " # ") {
            // The form is `rspec ./spec/kit_spec.rb:2 # Kit adds`.
            let name = String(text[mark.upperBound...])
            let place = run.add(name, .failed)
            run.locate(place, at: PrintedPlace(text[..<mark.lowerBound].dropFirst("rspec ".count)))
            for line in messages.removeValue(forKey: name) ?? [] { run.describe(place, line) }
        } else if text == "Failures:" {
            (isInFailures, isAfterSummary) = (true, false)
        } else if isInFailures {
            takeFailure(text)
        }
    }

    /// Reads a line such as `  1) Kit adds`, and the lines below it.
    private mutating func takeFailure(_ text: String) {
        let rest = text.drop { $0 == " " }
        let digits = rest.prefix { $0.isASCII && $0.isNumber }
        if !digits.isEmpty, text.hasPrefix("  "), rest.dropFirst(digits.count).hasPrefix(") ") {
            endMessage()
            name = String(rest.dropFirst(digits.count + 2))
        } else if name != nil, lines.count < Self.maximumMessageLines {
            lines.append(TextLimit.cut(String(rest), toBytes: 4096))
        }
    }

    private mutating func endMessage() {
        if let name, messages.count < 10_000 { messages[name] = lines }
        (name, lines) = (nil, [])
    }

    func content() -> ReportContent? { run.content() }
}

/// A reader of the output of minitest and test-unit, also in Rails.
struct MinitestConsole: SummaryReader {
    private var run: SummedRun
    private var isAfterKind: TestResult.Outcome?
    private var current: Int?
    private var isRunning = false
    /// The number of lines since the one that announces a run: minitest's `Run options: --seed 1`, test-unit's `Loaded suite test`.
    private var sinceAnnouncement = Int.max

    /// The most lines from the announcement of a run to its beginning.
    private static let maximumHeadLines = 5

    init(root: SourceRoot) { run = SummedRun(tool: "minitest", root: root) }

    var isWithin: Bool { isRunning || sinceAnnouncement < Self.maximumHeadLines }

    mutating func consume(_ text: String) {
        sinceAnnouncement = sinceAnnouncement == Int.max ? Int.max : sinceAnnouncement + 1
        if text.hasPrefix("Run options:") || text.hasPrefix("Loaded suite ") { return sinceAnnouncement = 0 }
        if isBeginning(text) {
            if text != "Started" { run.begin() }
            return isRunning = true
        }
        guard isRunning else { return }
        if text.first?.isNumber == true, text.has(" assertions, "), text.has(" failures, "), text.has(" errors") {
            let counts = SummedRun.counts(text[...])
            guard let all = counts["run"] ?? counts["test"] else { return }
            run.end(
                all: all, failed: counts["failure", default: 0] + counts["error", default: 0],
                skipped: counts["skip", default: 0] + counts["omission", default: 0] + counts["pending", default: 0])
            (isRunning, current, isAfterKind) = (false, nil, nil)
        } else if let outcome = isAfterKind {
            isAfterKind = nil
            current = Self.name(text).flatMap { found in
                let place = run.add(suite: found.suite, found.name, outcome)
                run.locate(place, at: found.place)
                return place
            }
        } else if let outcome = Self.kind(text) {
            isAfterKind = outcome
        } else if let found = Self.testUnit(text) {
            current = run.add(suite: found.suite, found.name, .failed)
            run.describe(current, found.message)
        } else if text.allSatisfy(\.isWhitespace) || text.allSatisfy({ $0 == "=" }) {
            current = nil
        } else {
            run.describe(current, text)
        }
    }

    func content() -> ReportContent? { run.content() }

    /// Returns whether a run begins with this line. Other programs print `# Running:` or `Started` too, but not after an announcement.
    private func isBeginning(_ text: String) -> Bool {
        // This is the line of minitest-reporters.
        if text.hasPrefix("Started with run options "), text.has("--seed ") { return true }
        return sinceAnnouncement <= Self.maximumHeadLines
            && ["# Running:", "# Running tests:", "Started"].contains(text)
    }

    /// Returns the outcome in a line such as `  1) Failure:` or `Error:`; `nil` for other lines.
    private static func kind(_ text: String) -> TestResult.Outcome? {
        let words = text.split(separator: " ")
        guard (1...2).contains(words.count), words.count == 1 || words[0].hasSuffix(")") else { return nil }
        switch words.last {
        case "Failure:", "Error:": return .failed
        case "Skipped:": return .skipped
        default: return nil
        }
    }

    /// Parses a line such as `KitTest#test_b [test/kit_test.rb:5]:` or `KitTest#test_b:`; `nil` for other lines.
    private static func name(_ text: String) -> (suite: String, name: Substring, place: PrintedPlace?)? {
        guard let hash = text.range(ofFirst: "#"), hash.lowerBound > text.startIndex else { return nil }
        var name = text[hash.upperBound...].trimmingSuffix { $0 == ":" || $0 == " " }
        var place: PrintedPlace?
        if name.hasSuffix("]"), let open = name.range(ofLast: " [") {
            place = PrintedPlace(name[open.upperBound...].dropLast())
            name = name[..<open.lowerBound]
        }
        return (String(text[..<hash.lowerBound]), name, place)
    }

    /// Parses a line such as `Failure: test_b(KitTest): <1> expected but was <2>.`; `nil` for other lines.
    private static func testUnit(_ text: String) -> (suite: String, name: Substring, message: Substring)? {
        guard text.hasPrefix("Failure: ") || text.hasPrefix("Error: "), let colon = text.range(ofFirst: ": ") else {
            return nil
        }
        let rest = text[colon.upperBound...]
        guard let open = rest.range(ofFirst: "("), let close = rest[open.upperBound...].range(ofFirst: ")") else {
            return nil
        }
        return (
            String(rest[open.upperBound..<close.lowerBound]), rest[..<open.lowerBound], rest[close.upperBound...]
        )
    }
}
