import Model

/// The state of reading XCTest's console line by line.
struct XCTestRun: Sendable {
    /// A test that was started, and what is known of it since.
    private struct Running {
        var index: Int
        var messages: [String] = []
        var skipReason: String?
        /// Lines that the last message may still take up.
        var continuation = 0
        var hasContinuation = false
    }

    private static let maximumMessageLines = 20
    private static let needles: Needles = [
        "Test Case '", "Test Suite '", "] Testing ", ": error: ", " : Test skipped", "Test run started", "Fatal error:",
        "*** Signal ", "xited with unexpected signal code ", " at /", " Executed ",
    ]
    private static let maximumMessages = 50

    private let root: SourceRoot
    private var names: ListedTests
    private var tests: [TestResult] = []
    /// By suite and name: where it is in `tests`, and in which run it was last seen.
    private var places: [String: (index: Int, run: Int)] = [:]
    /// How many of one class and method this run had.
    private var seenInRun: [String: Int] = [:]
    private var run = 0
    private var running: Running?
    /// Whether SwiftPM runs every test in a process of its own.
    private var isParallel = false
    private var crash = CrashText()
    /// The same from the run's beginning on. SwiftPM keeps standard output back, so what the dying process wrote to standard
    /// error can stand before the line that says which test was started.
    private var crashOfRun = CrashText()
    private var hasTestsInRun = false
    /// Whether all tests began and have not ended.
    private var isOpen = false
    /// Whether a run ended without a word, or says that tests failed.
    private var isCut = false
    private var statesFailures = false

    init(root: SourceRoot, names: ListedTests) {
        self.root = root
        self.names = names
    }

    mutating func take(_ line: LogLine) {
        // Everything else is a test's own output.
        guard (running?.continuation ?? 0) > 0 || line.contains(Self.needles) else { return }
        let text = line.text
        if let range = text.range(ofFirst: "Test Case '") {
            if takeTestCase(text[range.upperBound...]) { return }
        }
        if let range = text.range(ofFirst: "Test Suite 'All tests' ")
            ?? text.range(ofFirst: "Test Suite 'Selected tests' "),
            takeRun(text[range.upperBound...], isAtStart: range.lowerBound == text.startIndex)
        {
            return
        }
        if text.hasPrefix("Test Suite '") {
            running?.continuation = 0
            return
        }
        // Between tests: what a test prints may be another run's log.
        if running == nil, let range = text.range(ofFirst: " Executed "), Self.failures(text[range.upperBound...]) > 0 {
            statesFailures = true
        }
        if text.hasPrefix("["), let range = text.range(ofFirst: "] Testing ") {
            takeParallel(text[range.upperBound...])
            return
        }
        if takeFailure(text) || takeSkip(text) { return }
        // Swift Testing's run follows in the same log: a crash there is not this test's.
        if text.hasPrefix("◇ Test run started") || text.hasPrefix("􀟈") {
            endRun()
            return
        }
        crash.take(text, root: root)
        crashOfRun.take(text, root: root)
        takeContinuation(text)
    }

    /// The tests that have an end by now.
    var ended: [TestResult] {
        tests.enumerated().filter { $0.offset != running?.index }.map(\.element)
    }

    /// - Returns: All tests; one still running when the log ends has crashed.
    mutating func results() -> [TestResult] {
        endRun()
        return tests
    }

    /// What is wrong with the console itself, once all was taken.
    var problems: [String] {
        var problems: [String] = []
        if isOpen || isCut, !tests.contains(where: { $0.outcome == .crashed }) {
            problems.append("the output of XCTest ends before its run does")
        }
        if statesFailures, !tests.contains(where: \.outcome.isFailure) {
            problems.append("XCTest says that tests failed, but names none")
        }
        return problems
    }

    /// `started at …`, `passed at …`, `failed at …`; before an end may stand what a test printed last.
    private mutating func takeRun(_ rest: Substring, isAtStart: Bool) -> Bool {
        if rest.hasPrefix("started"), isAtStart {
            if isOpen { isCut = true }
            isOpen = true
            running?.continuation = 0
            endRun()
            return true
        }
        guard rest.hasPrefix("passed at") || rest.hasPrefix("failed at") else { return false }
        running?.continuation = 0
        isOpen = false
        return true
    }

    /// `14 tests, with 1 test skipped and 5 failures (0 unexpected) in 0.1 (0.1) seconds`
    private static func failures(_ text: Substring) -> Int {
        let words = text.prefix(200).split(separator: " ")
        guard words.count > 1, words[1] == "test," || words[1] == "tests,",
            let place = words.firstIndex(where: { $0.hasPrefix("failure") }), place > 1
        else { return 0 }
        return TAPLine.number(words[place - 1]) ?? 0
    }

    /// `ParserTests.testIt' started at …`, `…' passed (0.1 seconds)`, `-[KitTests.ParserTests testIt]' failed (…)`
    private mutating func takeTestCase(_ rest: Substring) -> Bool {
        guard let quote = rest.range(ofFirst: "' "), let test = Self.name(rest[..<quote.lowerBound]) else {
            return false
        }
        let words = rest[quote.upperBound...].split(separator: " ", maxSplits: 1)
        guard let word = words.first else { return false }
        switch word {
        case "started", "started.":
            endRunning(asCrash: true)
            begin(test)
        case "passed": end(test, .passed, words)
        case "failed": end(test, .failed, words)
        case "skipped": end(test, .skipped, words)
        default: return false
        }
        return true
    }

    private mutating func begin(_ test: (suite: String, name: String)) {
        hasTestsInRun = true
        guard tests.count < ReportContent.maximumItems else { return }
        let suite = suite(of: test)
        let key = suite + "\u{0}" + test.name
        if let known = places[key] {
            // Run again: the worse outcome stays.
            places[key] = (known.index, run)
            running = Running(index: known.index)
        } else {
            places[key] = (tests.count, run)
            running = Running(index: tests.count)
            tests.append(TestResult(suite: suite, name: test.name, outcome: .passed))
        }
        crash = CrashText()
    }

    /// The suite with its module, and with a number when one run has a class and method of one name again.
    private mutating func suite(of test: (suite: String, name: String)) -> String {
        let bare = test.suite + "\u{0}" + test.name
        let occurrence = seenInRun[bare, default: 0]
        seenInRun[bare] = occurrence + 1
        let listed = test.suite.contains(".") ? [] : names.suites(ofClass: test.suite, method: test.name)
        if occurrence < listed.count { return listed[occurrence] }
        return occurrence == 0 ? test.suite : "\(test.suite) (\(occurrence + 1))"
    }

    private mutating func end(
        _ test: (suite: String, name: String), _ outcome: TestResult.Outcome, _ words: [Substring]
    ) {
        if running.map({ tests[$0.index].name != test.name }) ?? true {
            // Its start is missing: the log was cut, or another process wrote into the line.
            endRunning(asCrash: true)
            begin(test)
        }
        guard let ended = running else { return }
        running = nil
        var duration: Duration?
        if words.count > 1, words[1].first == "(" {
            let number = words[1].dropFirst().prefix { $0 != " " }
            if let seconds = Double(number), seconds >= 0, seconds < 1e9 { duration = .seconds(seconds) }
        }
        record(ended, outcome, duration, message: outcome == .skipped ? ended.skipReason : nil)
    }

    private mutating func record(
        _ ended: Running, _ outcome: TestResult.Outcome, _ duration: Duration?, message: String?
    ) {
        var result = tests[ended.index]
        // Started anew below a failure: a failure of an earlier run stays one.
        if result.outcome.isFailure, !outcome.isFailure { return }
        result.outcome = outcome
        result.duration = duration
        let text = message ?? ended.messages.joined(separator: "\n")
        result.message = text.isEmpty ? nil : TextLimit.cut(text, toBytes: Finding.maximumMessageBytes)
        tests[ended.index] = result
    }

    private mutating func endRunning(asCrash: Bool) {
        guard let ended = running else { return }
        running = nil
        guard asCrash else { return }
        let message = (ended.messages + [crash.message].compactMap { $0 }).joined(separator: "\n")
        if tests[ended.index].path == nil, let path = crash.path {
            (tests[ended.index].path, tests[ended.index].line) = (path, crash.line)
        }
        record(ended, .crashed, nil, message: message)
        crash = CrashText()
    }

    private mutating func endRun() {
        // One process runs them all, and it died of one thing.
        if !isParallel, crash.message == nil, crashOfRun.signal != nil { crash = crashOfRun }
        endRunning(asCrash: true)
        run += 1
        // With --parallel each process has one test: a class and method seen again is one of another module.
        if !isParallel { seenInRun = [:] }
        crash = CrashText()
        if hasTestsInRun { crashOfRun = CrashText() }
        hasTestsInRun = false
    }

    /// `FILE:LINE: error: ParserTests.testIt : text`
    private mutating func takeFailure(_ text: String) -> Bool {
        guard let range = text.range(ofFirst: ": error: "), let place = PrintedPlace(text[..<range.lowerBound]),
            DiagnosticLine.isXCTestFailure(String(text[range.upperBound...])),
            let separator = text[range.upperBound...].range(ofFirst: " : ")
        else { return false }
        guard var now = running else { return true }
        now.continuation = 0
        if now.messages.count < Self.maximumMessages {
            now.messages.append(TextLimit.cut(String(text[separator.upperBound...]), toBytes: 4096))
            now.continuation = Self.maximumMessageLines
        }
        if tests[now.index].path == nil, !place.path.hasPrefix("<") {
            (tests[now.index].path, tests[now.index].line) = (root.shown(place.path), place.line)
        }
        running = now
        return true
    }

    /// `FILE:LINE: ParserTests.testIt : Test skipped - why`
    private mutating func takeSkip(_ text: String) -> Bool {
        guard running != nil, let range = text.range(ofFirst: " : Test skipped") else { return false }
        running?.continuation = 0
        running?.skipReason = String(text[range.upperBound...].drop { $0 == " " || $0 == "-" })
        if let head = text[..<range.lowerBound].range(ofLast: ": "), let now = running,
            let place = PrintedPlace(text[..<head.lowerBound]), !place.path.hasPrefix("<")
        {
            (tests[now.index].path, tests[now.index].line) = (root.shown(place.path), place.line)
        }
        return true
    }

    /// A failure's text may have several lines; a test's own output after it cannot be told apart, so it is bounded.
    private mutating func takeContinuation(_ text: String) {
        guard var now = running, now.continuation > 0, !now.messages.isEmpty, !text.isEmpty else { return }
        now.continuation -= 1
        now.messages[now.messages.count - 1] += "\n" + TextLimit.cut(text, toBytes: 1024)
        running = now
    }

    /// `KitTests.ParserTests/testIt`: with `--parallel` a line per ended test, passed unless what follows says otherwise.
    private mutating func takeParallel(_ rest: Substring) {
        guard running == nil, tests.count < ReportContent.maximumItems,
            let test = ListedTests.split(String(rest)), !test.name.hasSuffix(")")
        else { return }
        let key = test.suite + "\u{0}" + test.name
        guard places[key] == nil else { return }
        isParallel = true
        names.add(suite: test.suite, name: test.name)
        places[key] = (tests.count, run)
        tests.append(TestResult(suite: test.suite, name: test.name, outcome: .passed))
    }

    /// Suite and name of `ParserTests.testIt` (Linux) or `-[KitTests.ParserTests testIt]` (macOS).
    private static func name(_ text: Substring) -> (suite: String, name: String)? {
        guard text.utf8.count <= TextLimit.nameBytes else { return nil }
        var text = text
        var separator: Character = "."
        if text.hasPrefix("-["), text.hasSuffix("]") {
            text = text.dropFirst(2).dropLast()
            separator = " "
        }
        guard let index = text.lastIndex(of: separator), index > text.startIndex else { return nil }
        let name = text[text.index(after: index)...]
        return name.isEmpty ? nil : (String(text[..<index]), String(name))
    }
}
