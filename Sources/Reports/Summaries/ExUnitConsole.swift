import Model

/// A reader of the output of ExUnit, which `mix test` runs.
struct ExUnitConsole: SummaryReader {
    private var run: SummedRun
    private var isRunning = false
    private var current: Int?
    private var sinceTime = Int.max
    /// Failures before the first line that only ExUnit prints. Before Elixir 1.15 that is the time and the counts at the end.
    private var held: [String] = []
    private var heldBytes = 0

    private static let maximumHeldBytes = 4 << 20

    init(root: SourceRoot) { run = SummedRun(tool: "ExUnit", root: root) }

    var isWithin: Bool { isRunning || !held.isEmpty || sinceTime < 3 }

    mutating func consume(_ text: String) {
        sinceTime = sinceTime == Int.max ? Int.max : sinceTime + 1
        if text.hasPrefix("Running ExUnit with seed: "), text.has(", max_cases: ") {
            (held, heldBytes) = ([], 0)
            run.begin()
            return isRunning = true
        }
        if text.hasPrefix("Finished in "), isRunning || text.has("s async, ") {
            (sinceTime, current) = (0, nil)
        } else if sinceTime < 3, text.first?.isNumber == true, text.has(" failure") {
            takeHeld()
            let counts = SummedRun.counts(text[...])
            let skipped = counts["skipped", default: 0] + counts["excluded", default: 0] + counts["invalid", default: 0]
            let failed = counts["failure", default: 0] + counts["invalid", default: 0]
            let others: Set<String> = ["failure", "skipped", "excluded", "invalid"]
            let all = counts.filter { !others.contains($0.key) }.values.reduce(0, +)
            run.end(all: all, failed: failed, skipped: skipped)
            (isRunning, current, sinceTime) = (false, nil, .max)
        } else if isRunning {
            takeFailure(text)
        } else {
            hold(text)
        }
    }

    private mutating func takeFailure(_ text: String) {
        if let found = Self.entry(text) {
            current = run.add(suite: found.suite, found.name, .failed)
        } else if let current, text.hasPrefix("     ") {
            let rest = text.drop { $0 == " " }
            if let place = PrintedPlace(rest), !rest.contains(" ") {
                run.locate(current, at: place)
            } else {
                run.describe(current, rest)
            }
        }
    }

    private mutating func hold(_ text: String) {
        guard !held.isEmpty || Self.entry(text) != nil, heldBytes + text.utf8.count <= Self.maximumHeldBytes else {
            return
        }
        // Each text also needs some memory of its own.
        heldBytes += text.utf8.count + 16
        held.append(text)
    }

    /// Reads the held lines. The counts after the time show that they are ExUnit's; the time alone does not.
    private mutating func takeHeld() {
        for line in held { takeFailure(line) }
        (held, heldBytes) = ([], 0)
    }

    func content() -> ReportContent? { run.content() }

    /// Parses a line such as `  1) test adds (KitTest)`; `nil` for other lines.
    private static func entry(_ text: String) -> (suite: String, name: Substring)? {
        guard text.hasPrefix("  "), text.hasSuffix(")"), let open = text.range(ofLast: " (") else { return nil }
        let rest = text.drop { $0 == " " }
        let digits = rest.prefix { $0.isASCII && $0.isNumber }
        guard !digits.isEmpty, rest.dropFirst(digits.count).hasPrefix(") ") else { return nil }
        let begin = rest.index(rest.startIndex, offsetBy: digits.count + 2)
        guard begin < open.lowerBound else { return nil }
        return (String(text[open.upperBound...].dropLast()), text[begin..<open.lowerBound])
    }
}

/// A reader of the output of busted, Lua's test runner.
struct BustedConsole: SummaryReader {
    private var run: SummedRun
    private var isAfterSummary = false
    /// The place and outcome of a failure whose name is in the next line.
    private var place: (PrintedPlace?, TestResult.Outcome)?
    private var current: Int?

    init(root: SourceRoot) { run = SummedRun(tool: "busted", root: root) }

    var isWithin: Bool { isAfterSummary }

    mutating func consume(_ text: String) {
        if text.first?.isNumber == true, text.has(" success"), text.has(" failure"), text.has(" error"),
            text.has(" pending : "), text.hasSuffix(" seconds")
        {
            let counts = SummedRun.counts(text[...])
            // Removing a final `s` also shortens `successes`.
            let passed = counts["success"] ?? counts["successe"] ?? counts["succes"] ?? 0
            let failed = counts["failure", default: 0] + counts["error", default: 0]
            let skipped = counts["pending", default: 0]
            run.end(all: passed + failed + skipped, failed: failed, skipped: skipped)
            (isAfterSummary, current, place) = (true, nil, nil)
        } else if !isAfterSummary {
            return
        } else if let found = Self.entry(text) {
            (place, current) = (found, nil)
        } else if let (place, outcome) = place {
            self.place = nil
            current = run.add(text, outcome)
            run.locate(current, at: place)
        } else if text.allSatisfy(\.isWhitespace) {
            current = nil
        } else {
            run.describe(current, text)
        }
    }

    func content() -> ReportContent? { run.content() }

    /// Parses a line such as `Failure → spec/kit_spec.lua @ 5`, or with `->` without UTF-8; `nil` for other lines.
    private static func entry(_ text: String) -> (PrintedPlace?, TestResult.Outcome)? {
        guard let word = ["Failure", "Error", "Pending"].first(where: text.hasPrefix) else { return nil }
        let rest = text.dropFirst(word.count)
        guard rest.hasPrefix(" → ") || rest.hasPrefix(" -> "), let at = rest.range(ofLast: " @ ") else { return nil }
        let path = rest[..<at.lowerBound].drop { " →->".contains($0) }
        return (PrintedPlace("\(path):\(rest[at.upperBound...])"), word == "Pending" ? .skipped : .failed)
    }
}
