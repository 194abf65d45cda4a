import Model

/// The state of reading Swift Testing's console, line by line.
///
/// A test's output can quote another console of Swift Testing. Tests therefore start only within a run. If a run starts while tests are running, it
/// is a quotation as soon as one of those tests continues; otherwise the previous process has crashed. If the run itself reports that it passed, none
/// of its tests has failed.
struct SwiftTestingRun: Sendable {
    /// A run whose tests were running when another run started.
    private struct Outer: Sendable {
        var running: [String: [Int]]
        var occurrences: [String: Int]
        var crash: CrashText
        var first: Int
        /// The number of tests before the other run started.
        var tests: Int
        var problems: Int
    }

    private let names: ListedTests
    private var outer: [Outer] = []
    /// The end of a run that was printed while tests were running. It is a quotation if one of them continues.
    private var pendingEnd: String?
    private var tests: [TestResult] = []
    /// The indexes of running tests by printed name. There are several if overloads run in parallel.
    private var running: [String: [Int]] = [:]
    private var occurrences: [String: Int] = [:]
    private var crash = CrashText()
    /// Whether a run has begun and not ended. `first` is the index of its first test.
    private var isOpen = false
    private var first = 0
    /// Whether any run has begun.
    private var hasBegun = false
    private(set) var problems: [String] = []

    /// The most nested runs; a further one is ignored.
    private static let maximumRuns = 16
    /// The most running tests of one name.
    private static let maximumOverloads = 1000

    init(names: ListedTests) { self.names = names }

    mutating func consume(_ line: String, root: SourceRoot) {
        guard let (symbol, text) = Self.message(line) else {
            if !hasBegun, Self.isXcbeautifyFailure(line), problems.isEmpty { problems.append(Self.unnamedFailure) }
            crash.consume(line, root: root)
            return
        }
        if text.hasPrefix("run ") {
            run(text)
        } else if text.hasPrefix("case ") {
            return
        } else if let name = Self.name(text, before: " started.") {
            pendingEnd = nil
            if !isOpen { goOn() }
            if isOpen { start(name) }
        } else if let range = text.range(ofFirst: " recorded a"), symbol != "━" {
            guard symbol == "✘" else { return }
            issue(String(text[..<range.lowerBound]), text[range.upperBound...], root: root)
        } else if let range = text.range(ofFirst: " skipped") {
            let name = String(text[..<range.lowerBound])
            let reason = text[range.upperBound...].drop { $0 == ":" || $0 == " " || $0 == "\"" }
            goOn(with: name)
            if isOpen, running[name] == nil { start(name) }
            end(name, .skipped, message: reason.trimmingSuffix { $0 == "\"" || $0 == "." }, seconds: nil)
        } else if let range = text.range(ofFirst: " after ") {
            end(result: text[..<range.lowerBound], symbol: symbol, rest: text[range.upperBound...])
        }
    }

    /// Whether a test is running, so that lines that look like other tools' output are its output.
    var isWithinTest: Bool { isOpen && !running.isEmpty }

    /// Returns whether a line is xcbeautify's end of a failed run: `Test run with 2 tests failed after 0.001 seconds with 1 issue(s)`. The start of
    /// such a run and its tests cannot be read.
    private static func isXcbeautifyFailure(_ line: String) -> Bool {
        line.hasPrefix("Test run with ") && line.has(" failed after ") && line.has(" seconds with ")
            && line.has(" issue(s)")
    }

    private static let unnamedFailure = "Swift Testing reports a failed run, but names no failed test"

    /// The tests that have ended so far.
    var ended: [TestResult] {
        let open = Set((outer.map(\.running) + [running]).flatMap { $0.values.joined() })
        return tests.enumerated().filter { !open.contains($0.offset) }.map(\.element)
    }

    mutating func results() -> [TestResult] {
        endPending()
        endAll()
        endRun()
        for run in outer { crash(run.running, run.crash) }
        outer = []
        return tests
    }

    private mutating func run(_ text: Substring) {
        if text.hasPrefix("run with ") {
            if running.isEmpty, !isOpen { goOn() }
            if running.isEmpty {
                takeRun(text)
            } else if isOpen {
                pendingEnd = String(text)
            }
            return
        }
        // The run is another process's, or a running test has printed it.
        let isInterrupted = isOpen && !running.isEmpty && pendingEnd == nil
        endPending()
        if isInterrupted {
            guard outer.count < Self.maximumRuns else { return }
            outer.append(
                Outer(
                    running: running, occurrences: occurrences, crash: crash, first: first, tests: tests.count,
                    problems: problems.count))
            (running, crash, first, isOpen) = ([:], CrashText(), tests.count, true)
            return
        }
        takeRun(text)
    }

    /// Ends the run if its pending end was its own. A test without an end has then crashed, or its end is lost.
    private mutating func endPending() {
        guard let text = pendingEnd else { return }
        pendingEnd = nil
        endAll()
        takeRun(text[...])
    }

    /// Handles a line of a test. If the test was running before the last run started, it has printed that run, which is then dropped.
    private mutating func goOn(with name: String) {
        if running[name] != nil {
            pendingEnd = nil
        } else if outer.contains(where: { $0.running[name] != nil }) {
            while let run = outer.last {
                goOn()
                if run.running[name] != nil { return }
            }
        }
    }

    /// Returns to the outer run.
    private mutating func goOn() {
        guard let run = outer.popLast() else { return }
        tests.removeSubrange(run.tests...)
        problems.removeSubrange(run.problems...)
        (running, occurrences, crash, first) = (run.running, run.occurrences, run.crash, run.first)
        (isOpen, pendingEnd) = (true, nil)
    }

    /// Reads `run started.` or `run with 3 tests in 1 suite failed after 0.1 seconds with 2 issues.`
    private mutating func takeRun(_ text: Substring) {
        guard text.hasPrefix("run with ") else {
            endRun()
            (isOpen, hasBegun) = (true, true)
            return
        }
        guard isOpen else { return }
        isOpen = false
        if text.has(" passed after ") {
            // A test printed the apparent failure, or the real end is lost among other output.
            for index in tests.indices[first...] where tests[index].outcome.isFailure {
                (tests[index].outcome, tests[index].message) = (.passed, nil)
            }
        }
        // The issue is outside of any test, or of a test whose lines are lost.
        if text.has(" failed after "), !tests[first...].contains(where: \.outcome.isFailure), problems.count < 10 {
            problems.append(Self.unnamedFailure)
        }
        first = tests.count
    }

    private mutating func endRun() {
        guard isOpen else { return }
        isOpen = false
        // If a test has crashed, that is the reason.
        if !tests[first...].contains(where: { $0.outcome == .crashed }), problems.count < 10 {
            problems.append("the output of Swift Testing ends before its run does")
        }
        first = tests.count
    }

    /// Returns the symbol and the text after `Test `; `nil` for other lines. Symbols differ by platform: on macOS they are in SF Symbols' private use
    /// area.
    private static func message(_ line: String) -> (symbol: Character, text: Substring)? {
        guard let symbol = line.first, !symbol.isASCII else { return nil }
        let rest = line.dropFirst().drop { $0 == " " }
        guard rest.hasPrefix("Test ") else { return nil }
        return (symbol, rest.dropFirst("Test ".count))
    }

    private static func name(_ text: Substring, before suffix: String) -> String? {
        text.hasSuffix(suffix) ? String(text.dropLast(suffix.count)) : nil
    }

    private mutating func start(_ printed: String) {
        guard tests.count < ReportContent.maximumItems, printed.utf8.count <= TextLimit.nameBytes,
            (running[printed]?.count ?? 0) < Self.maximumOverloads
        else { return }
        let occurrence = occurrences[printed, default: 0] + 1
        occurrences[printed] = occurrence
        var name = printed
        if name.utf8.count > 1, name.first == "\"", name.last == "\"" { name = String(name.dropFirst().dropLast()) }
        let suite = names.suite(ofFunction: name) ?? ""
        running[printed, default: []].append(tests.count)
        tests.append(
            TestResult(suite: suite, name: occurrence == 1 ? name : "\(name) (\(occurrence))", outcome: .passed))
    }

    /// Reads an issue: `n issue with 1 argument n → 2 at STests.swift:6:52: Expectation failed: …`.
    private mutating func issue(_ printed: String, _ rest: Substring, root: SourceRoot) {
        goOn(with: printed)
        guard let index = running[printed]?.first else { return }
        var message = rest
        if let range = rest.range(ofFirst: " at "), let colon = rest[range.upperBound...].range(ofFirst: ": "),
            let place = PrintedPlace(rest[range.upperBound..<colon.lowerBound])
        {
            message = rest[colon.upperBound...]
            // Only the file's name is printed.
            if tests[index].path == nil {
                (tests[index].path, tests[index].line) = (root.shown(place.path), place.line)
            }
        }
        let text = [tests[index].message, String(message)].compactMap { $0 }.joined(separator: "\n")
        tests[index].message = TextLimit.cut(text, toBytes: Finding.maximumMessageBytes)
        tests[index].outcome = .failed
    }

    /// Reads a test's end: `param(n:) with 3 test cases failed` after `0.005 seconds with 1 issue.`
    private mutating func end(result: Substring, symbol: Character, rest: Substring) {
        guard let space = result.lastIndex(of: " ") else { return }
        let word = result[result.index(after: space)...]
        guard word == "passed" || word == "failed" else { return }
        var name = result[..<space]
        if let range = name.range(ofLast: " with "), name.hasSuffix(" test cases") || name.hasSuffix(" test case") {
            name = name[..<range.lowerBound]
        }
        let seconds = Double(rest.prefix { $0 != " " })
        let outcome: TestResult.Outcome =
            word == "failed" ? .failed : rest.has("known issue") ? .knownIssue : .passed
        end(String(name), outcome, message: nil, seconds: seconds)
    }

    private mutating func end(
        _ printed: String, _ outcome: TestResult.Outcome, message: Substring?, seconds: Double?
    ) {
        goOn(with: printed)
        guard var waiting = running[printed], !waiting.isEmpty else { return }
        // Among overloads, the test that recorded an issue is the one that failed.
        let place = waiting.firstIndex { (tests[$0].outcome == .failed) == (outcome == .failed) } ?? 0
        let index = waiting.remove(at: place)
        running[printed] = waiting.isEmpty ? nil : waiting
        if !tests[index].outcome.isFailure { tests[index].outcome = outcome }
        if let message, !message.isEmpty { tests[index].message = String(message) }
        if let seconds, seconds >= 0, seconds < 1e9 { tests[index].duration = .seconds(seconds) }
    }

    private mutating func endAll() {
        crash(running, crash)
        running = [:]
        crash = CrashText()
    }

    /// Decides the outcomes of tests that were running when their process ended. If there are several, the console does not show which one caused it.
    /// Therefore one added test has crashed, and the running ones did not run to their end.
    private mutating func crash(_ running: [String: [Int]], _ crash: CrashText) {
        let places = running.values.joined().sorted()
        let isOne = places.count == 1
        for index in places where isOne || tests[index].outcome != .failed {
            tests[index].outcome = isOne ? .crashed : .skipped
            let text = isOne ? crash.message : CrashedProcess.notRun
            tests[index].message = [tests[index].message, text].compactMap { $0 }.joined(separator: "\n")
        }
        guard places.count > 1, tests.count < ReportContent.maximumItems else { return }
        tests.append(
            TestResult(
                suite: "", name: CrashedProcess.testName, outcome: .crashed,
                message: CrashedProcess.message(crash.message ?? "", running: places.map { tests[$0].name })))
    }
}
