import Model

/// The state of reading XCTest's console line by line.
///
/// A test's output can quote another log of XCTest, line for line. A line therefore counts only where XCTest itself can have written it: a test
/// begins within a run, no other begins before it has ended, and a failure in it names it. Other lines are held until the test's own end shows that
/// it printed them. Without that end they are the log's own: the test crashed, or its end is lost.
/// end shows that it printed them. Without that end they are the log's own: the test crashed, or its end is lost.
struct XCTestRun: Sendable {
    /// A test that was started, and what is known of it since.
    struct Running {
        var index: Int
        /// The printed name: `ParserTests.testIt`.
        var printed: String
        var messages: [String] = []
        var skipReason: String?
        /// Lines that the last message may still take up.
        var continuation = 0
        var hasContinuation = false
    }

    private static let maximumMessageLines = 20
    private static let needles: Needles = [
        "Test Case '", "Test Suite '", "] Testing ", ": error: ", " : Test skipped", "Test run started",
        "Test run with ", "Fatal error:",
        "*** Signal ", "xited with unexpected signal code ", " at /", "Executed ", "Tests Failed: ",
    ]
    private static let maximumMessages = 50
    /// The limit of held lines, in bytes; further ones are dropped.
    static let maximumHeldBytes = 8 << 20

    private let root: SourceRoot
    private var names: ListedTests
    private var tests: [TestResult] = []
    /// By suite and name: where it is in `tests`, and in which run it was last seen.
    private var places: [String: (index: Int, run: Int)] = [:]
    /// How many of one class and method this run had.
    private var seenInRun: [String: Int] = [:]
    private var run = 0
    var running: Running?
    /// Whether SwiftPM runs every test in a process of its own.
    private var isParallel = false
    private var crash = CrashText()
    /// The same from the run's beginning on. SwiftPM keeps standard output back, so what the dying process wrote to standard
    /// error can stand before the line that says which test was started.
    private var crashOfRun = CrashText()
    private var hasTestsInRun = false
    /// Whether all tests began and have not ended.
    private var isOpen = false
    /// Whether any suite began since the last run ended: only then XCTest can have written a test's line.
    private var isWithin = false
    private var hasBegun = false
    /// Lines that arrived while a test was running and are not its own.
    var held: [String] = []
    var heldBytes = 0
    /// Whether a run of Swift Testing is in progress. XCTest's own is over then: apparent lines of it are a test's output.
    var isInSwiftTesting = false
    /// Whether the held lines begin another run, so that what follows is not the running test's crash.
    var isBeyond = false
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
        if isInSwiftTesting { return takeWithinSwiftTesting(text) }
        if let running {
            if isOfAnother(text, than: running) { return hold(text) }
            // It started again without an end: its process died.
            if Self.own(running.printed, in: text)?.hasPrefix("started") == true { readHeld() }
        }
        take(text)
    }

    mutating func take(_ text: String) {
        if let range = text.range(ofFirst: "Test Case '") {
            // A test's own end may follow its last output, which can contain another's.
            let own = running.flatMap { now in Self.own(now.printed, in: text).map { "\(now.printed)' \($0)"[...] } }
            if takeTestCase(own ?? text[range.upperBound...]) { return }
        }
        if let range = text.range(ofFirst: "Test Suite 'All tests' ")
            ?? text.range(ofFirst: "Test Suite 'Selected tests' "),
            takeRun(text[range.upperBound...], isAtStart: range.lowerBound == text.startIndex)
        {
            return
        }
        if text.hasPrefix("Test Suite '") {
            if text.has("' started") { begin() }
            running?.continuation = 0
            return
        }
        // Between tests: what a test prints may be another run's log.
        if running == nil, hasBegun, text.drop(while: \.isWhitespace).hasPrefix("Executed "),
            let range = text.range(ofFirst: "Executed "), Self.failures(text[range.upperBound...]) > 0
        {
            statesFailures = true
        }
        if running == nil, Self.isXcbeautifyFailure(text) { statesFailures = true }
        if Self.isParallel(text), let range = text.range(ofFirst: "] Testing ") {
            takeParallel(text[range.upperBound...])
            return
        }
        if takeFailure(text) || takeSkip(text) { return }
        // Swift Testing's run follows in the same log: a crash there is not this test's.
        if Self.beginsSwiftTesting(text) {
            endRun()
            isInSwiftTesting = true
            return
        }
        guard !isBeyond else { return }
        crash.take(text, root: root)
        crashOfRun.take(text, root: root)
        takeContinuation(text)
    }

    /// `[12/345] Testing `
    static func isParallel(_ text: String) -> Bool {
        let count = text.dropFirst().prefix { $0 != "]" }.split(separator: "/", omittingEmptySubsequences: false)
        return text.hasPrefix("[") && count.count == 2 && count.allSatisfy { TAPLine.number($0) != nil }
    }

    /// Whether a test is running, so that what other tools seem to say is its output.
    var isWithinTest: Bool { running != nil }

    /// The tests that have an end by now.
    var ended: [TestResult] {
        tests.enumerated().filter { $0.offset != running?.index }.map(\.element)
    }

    /// - Returns: All tests; one still running when the log ends has crashed.
    mutating func results() -> [TestResult] {
        readHeld()
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
            begin()
            return true
        }
        guard isWithin, rest.hasPrefix("passed at") || rest.hasPrefix("failed at") else { return false }
        running?.continuation = 0
        (isOpen, isWithin) = (false, false)
        if running == nil, rest.hasPrefix("failed at") { statesFailures = true }
        return true
    }

    /// `Tests Failed: 1 failed, 0 skipped, 4 total (0.1 seconds)`, which xcbeautify prints in place of the tests' lines.
    private static func isXcbeautifyFailure(_ text: String) -> Bool {
        guard text.hasPrefix("Tests Failed: "), text.hasSuffix(" seconds)"), text.has(" failed, ") else { return false }
        return text.has(" skipped, ") && text.has(" total (")
    }

    private mutating func begin() { (isWithin, hasBegun) = (true, true) }

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
        let printed = String(rest[..<quote.lowerBound])
        // Outside of a run no line is a test's start, nor the end of a test that has not started.
        guard isWithin || running?.printed == printed else { return false }
        switch word {
        case "started", "started.":
            endRunning(asCrash: true)
            begin(test, printed)
        case "passed": end(test, printed, .passed, words)
        case "failed": end(test, printed, .failed, words)
        case "skipped": end(test, printed, .skipped, words)
        default: return false
        }
        return true
    }

    private mutating func begin(_ test: (suite: String, name: String), _ printed: String) {
        hasTestsInRun = true
        guard tests.count < ReportContent.maximumItems else { return }
        let suite = suite(of: test)
        let key = suite + "\u{0}" + test.name
        if let known = places[key] {
            // Run again: the worse outcome stays.
            places[key] = (known.index, run)
            running = Running(index: known.index, printed: printed)
        } else {
            places[key] = (tests.count, run)
            running = Running(index: tests.count, printed: printed)
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
        _ test: (suite: String, name: String), _ printed: String, _ outcome: TestResult.Outcome, _ words: [Substring]
    ) {
        if running?.printed != printed {
            // Its start is missing: another process wrote into the line.
            endRunning(asCrash: true)
            begin(test, printed)
        }
        guard let ended = running else { return }
        running = nil
        drop()
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
        // Started again after a failure: an earlier run's failure stays.
        if result.outcome.isFailure, !outcome.isFailure { return }
        result.outcome = outcome
        result.duration = duration
        let text = message ?? ended.messages.joined(separator: "\n")
        result.message = text.isEmpty ? nil : TextLimit.cut(text, toBytes: Finding.maximumMessageBytes)
        tests[ended.index] = result
    }

    private mutating func endRunning(asCrash: Bool) {
        guard let ended = running else { return }
        (running, isBeyond) = (nil, false)
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
        isWithin = false
    }

    /// `FILE:LINE: error: ParserTests.testIt : text`
    private mutating func takeFailure(_ text: String) -> Bool {
        guard let range = text.range(ofFirst: ": error: "), let place = PrintedPlace(text[..<range.lowerBound]),
            DiagnosticLine.isXCTestFailure(String(text[range.upperBound...])),
            let separator = text[range.upperBound...].range(ofFirst: " : ")
        else { return false }
        // A line that names another test is quoted.
        guard var now = running, text[range.upperBound..<separator.lowerBound] == now.printed else { return true }
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
    static func name(_ text: Substring) -> (suite: String, name: String)? {
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
