import Model

/// What a tool said that names the tests that failed and counts the others.
struct SummedRun: Sendable {
    private let tool: String
    private let root: SourceRoot
    private var tests: [TestResult] = []
    private var places: [String: Int] = [:]
    /// Of all runs, what their summaries say.
    private var stated = (all: 0, failed: 0, skipped: 0)
    private var runs = 0
    private var problems: [String] = []
    /// Whether a run has begun whose summary is still to come.
    private(set) var isOpen = false

    private static let maximumProblems = 10

    init(tool: String, root: SourceRoot) { (self.tool, self.root) = (tool, root) }

    mutating func begin() { isOpen = true }

    /// Adds a test that is named. Named again, its worse outcome stays: a failure in its clean-up, or in one of its parts.
    /// - Returns: Its place, for `describe` and `locate`; `nil` for one too many.
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

    /// Adds a line to a test's text.
    mutating func describe(_ place: Int?, _ line: some StringProtocol) {
        if let place { tests[place].message.append(line: String(line)) }
    }

    /// Says where a test failed. A later place is nearer to the failure where `isNearer`, as in traces of Python.
    mutating func locate(_ place: Int?, at printed: PrintedPlace?, isNearer: Bool = false) {
        guard let place, let printed, printed.line != nil, isNearer || tests[place].path == nil else { return }
        (tests[place].path, tests[place].line) = (root.shown(printed.path), printed.line)
    }

    /// Adds a sentence that keeps the run from being green.
    mutating func add(problem: String) {
        if problems.count < Self.maximumProblems { problems.append(TextLimit.cut(problem, toBytes: 1000)) }
    }

    /// Ends a run by its summary.
    mutating func end(all: Int, failed: Int, skipped: Int) {
        isOpen = false
        runs += 1
        stated.all += all
        stated.failed += failed
        stated.skipped += skipped
    }

    /// The tests; `nil` when there was no run. Those that passed and are not named are one, so that they are not taken for gone.
    func content() -> ReportContent? {
        guard runs > 0 || isOpen else { return nil }
        var content = ReportContent(tests: tests, problems: problems)
        if isOpen { content.problems.append("the output of \(tool) ends before its tests do") }
        let failed = tests.count(where: \.outcome.isFailure)
        let skipped = tests.count { $0.outcome == .skipped }
        if stated.failed > 0, failed == 0, content.problems.isEmpty {
            content.problems.append("\(tool) says that \(stated.failed.counting("test")) failed, but names none")
        }
        let named = tests.count - failed - skipped
        if stated.all - max(stated.failed, failed) - max(stated.skipped, skipped) > named {
            content.tests.append(TestResult(suite: tool, name: "(tests that passed)", outcome: .passed))
            content.notes.append("\(tool) ran \(stated.all.counting("test")), and does not name those that passed")
        }
        content.hasNoTests = runs > 0 && stated.all == 0 && content.tests.isEmpty && content.problems.isEmpty
        return content
    }

    /// `Tests: 5, Assertions: 4, Failures: 1.` and `3 examples, 1 failure`: numbers by their words in lower case, without a plural's `s`.
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

/// A reader of a console of one tool.
protocol SummaryReader: Sendable {
    /// Whether a line without any of the words of these tools may tell something.
    var isWithin: Bool { get }
    mutating func take(_ text: String)
    /// What it told; `nil` when it was not there.
    func content() -> ReportContent?
}
