import Model

/// The results of a tool that names only failed tests and counts the others.
struct SummedRun: Sendable {
    private let tool: String
    private let root: SourceRoot
    private var tests: [TestResult] = []
    private var places: [String: Int] = [:]
    /// The counts in the summaries of all runs.
    private var stated = (all: 0, failed: 0, skipped: 0)
    private var runs = 0
    private var problems: [String] = []
    /// Whether a run has begun whose summary has not come yet.
    private(set) var isOpen = false

    private static let maximumProblems = 10

    init(tool: String, root: SourceRoot) { (self.tool, self.root) = (tool, root) }

    mutating func begin() { isOpen = true }

    /// Adds a named test. If it is named again, its worse outcome stays, such as a failure in its clean-up or in one of its parts.
    /// - Returns: The test's index, for `describe` and `locate`; `nil` if there are too many tests.
    @discardableResult
    mutating func add(suite: String = "", _ name: some StringProtocol, _ outcome: TestResult.Outcome) -> Int? {
        var result = TestResult(
            suite: TextLimit.cut(suite, toBytes: TextLimit.nameBytes),
            name: TextLimit.cut(String(name), toBytes: TextLimit.nameBytes), outcome: outcome)
        if result.name.isEmpty { result.name = "(unnamed)" }
        if let place = places[result.fullName] {
            if outcome.isFailure { tests[place].outcome = outcome }
            return place
        }
        guard tests.count < ReportContent.maximumItems else { return nil }
        places[result.fullName] = tests.count
        tests.append(result)
        return tests.count - 1
    }

    /// Adds a line to a test's message.
    mutating func describe(_ place: Int?, _ line: some StringProtocol) {
        if let place { tests[place].message.append(line: String(line)) }
    }

    /// Records the place where a test failed. If `isNearer` is set, as for Python's traces, a later place replaces an earlier one.
    mutating func locate(_ place: Int?, at printed: PrintedPlace?, isNearer: Bool = false) {
        guard let place, let printed, printed.line != nil, isNearer || tests[place].path == nil else { return }
        (tests[place].path, tests[place].line) = (root.shown(printed.path), printed.line)
    }

    /// Adds a sentence that keeps the run from succeeding.
    mutating func add(problem: String) {
        if problems.count < Self.maximumProblems { problems.append(TextLimit.cut(problem, toBytes: 1000)) }
    }

    /// Ends a run with the counts of its summary.
    mutating func end(all: Int, failed: Int, skipped: Int) {
        isOpen = false
        runs += 1
        stated.all += all
        stated.failed += failed
        stated.skipped += skipped
    }

    /// Returns the tests; `nil` if there was no run. All passed tests without a name are one test, so that they are not considered removed.
    func content() -> ReportContent? {
        guard runs > 0 || isOpen else { return nil }
        var content = ReportContent(tests: tests, problems: problems)
        if isOpen { content.problems.append("the output of \(tool) ends before its tests do") }
        let failed = tests.count(where: \.outcome.isFailure)
        let skipped = tests.count { $0.outcome == .skipped }
        if stated.failed > 0, failed == 0, content.problems.isEmpty {
            content.problems.append("\(tool) says that \(stated.failed.counting("test")) failed, but it names none")
        }
        let named = tests.count - failed - skipped
        if stated.all - max(stated.failed, failed) - max(stated.skipped, skipped) > named {
            content.tests.append(TestResult(suite: tool, name: "(tests that passed)", outcome: .passed))
            content.notes.append("\(tool) ran \(stated.all.counting("test")), and does not name those that passed")
        }
        content.hasNoTests = runs > 0 && stated.all == 0 && content.tests.isEmpty && content.problems.isEmpty
        return content
    }

    /// Returns the numbers in a text such as `Tests: 5, Assertions: 4, Failures: 1.` or `3 examples, 1 failure`. The keys are the words in lowercase
    /// without a final `s`.
    static func counts(_ text: Substring) -> [String: Int] {
        var counts: [String: Int] = [:]
        for part in text.prefix(400).split(whereSeparator: { $0 == "," || $0 == "/" }).prefix(20) {
            let words = part.split { $0 == " " || $0 == ":" || $0 == "." || $0 == "=" }
            guard words.count >= 2 else { continue }
            let (number, word) =
                TAPLine.number(words[0]).map { ($0, words[1]) } ?? (TAPLine.number(words[words.count - 1]), words[0])
                as (Int?, Substring)
            guard let number else { continue }
            let name = word.lowercased()
            counts[name.hasSuffix("s") ? String(name.dropLast()) : name] = number
        }
        return counts
    }
}

/// A reader of one tool's console.
protocol SummaryReader: Sendable {
    /// Whether a line without any of the texts in `SummaryConsoles` may matter.
    var isWithin: Bool { get }
    mutating func consume(_ text: String)
    /// Returns the results; `nil` if the tool did not run.
    func content() -> ReportContent?
}
