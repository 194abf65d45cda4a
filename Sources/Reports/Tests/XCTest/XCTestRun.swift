import Model

/// The state of reading XCTest's console, line by line.
///
/// A test's output can quote another log of XCTest, line for line. A line therefore counts only where XCTest itself can have written it. A test
/// begins within a run, no other test begins before it has ended, and its failures name it. Other lines are held until the test's own end shows that
/// it printed them. Without that end they are the log's own: the test crashed, or its end is lost.
struct XCTestRun: Sendable {
    /// A test that has started, with the information about it so far.
    struct Running {
        var index: Int
        /// The printed name: `ParserTests.testIt`.
        var printed: String
        var messages: [String] = []
        var skipReason: String?
        /// The number of further lines that may belong to the last message.
        var continuation = 0
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
    /// The index in `tests` of each suite and name, and the run in which it was last seen.
    private var places: [String: (index: Int, run: Int)] = [:]
    /// The number of tests of each class and method in the current run.
    private var seenInRun: [String: Int] = [:]
    private var run = 0
    var running: Running?
    /// Whether SwiftPM runs every test in a separate process.
    private var isParallel = false
    private var crash = CrashText()
    /// The crash since the run's beginning. SwiftPM buffers standard output, so the dying process' standard error may precede the line with the
    /// started test.
    private var crashOfRun = CrashText()
    private var hasTestsInRun = false
    /// Whether the suite of all tests has begun and not ended.
    private var isOpen = false
    /// Whether a suite has begun since the last run ended. Only then can XCTest have written a test's line.
    private var isWithin = false
    private var hasBegun = false
    /// Lines that arrived while a test was running and are not its own.
    var held: [String] = []
    var heldBytes = 0
    /// Whether a run of Swift Testing is in progress. XCTest's run has ended then, so lines that look like XCTest's are a test's output.
    var isInSwiftTesting = false
    /// Whether the held lines begin another run, so that later lines do not belong to the running test's crash.
    var isBeyond = false
    /// Whether a run ended without its end line. `statesFailures` is whether a run reported failures.
    private var isCut = false
    private var statesFailures = false

    init(root: SourceRoot, names: ListedTests) {
        self.root = root
        self.names = names
    }

    mutating func consume(_ line: LogLine) {
        // All other lines are a test's own output.
        guard (running?.continuation ?? 0) > 0 || line.contains(Self.needles) else { return }
        let text = line.text
        if isInSwiftTesting { return takeWithinSwiftTesting(text) }
        if let running {
            if isOfAnother(text, than: running) { return hold(text) }
            // The test started again without an end, so its process has died.
            if Self.own(running.printed, in: text)?.hasPrefix("started") == true { readHeld() }
        }
        consume(text)
    }

    mutating func consume(_ text: String) {
        if let range = text.range(ofFirst: "Test Case '") {
            // A test's own end may follow its last output, which can contain another test's.
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
        // Outside of tests only: a test's output may contain another run's log.
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
        // Swift Testing's run follows in the same log; a crash in it does not belong to this test.
        if Self.beginsSwiftTesting(text) {
            endRun()
            isInSwiftTesting = true
            return
        }
        guard !isBeyond else { return }
        crash.consume(text, root: root)
        crashOfRun.consume(text, root: root)
        takeContinuation(text)
    }

    /// Returns whether a line begins like `[12/345] Testing `.
    static func isParallel(_ text: String) -> Bool {
        let count = text.dropFirst().prefix { $0 != "]" }.split(separator: "/", omittingEmptySubsequences: false)
        return text.hasPrefix("[") && count.count == 2 && count.allSatisfy { TAPLine.number($0) != nil }
    }

    /// Whether a test is running, so that lines that look like other tools' output are its output.
    var isWithinTest: Bool { running != nil }

    /// The tests that have ended so far.
    var ended: [TestResult] {
        tests.enumerated().filter { $0.offset != running?.index }.map(\.element)
    }

    /// Ends the reading.
    /// - Returns: All tests; a test that is still running when the log ends has crashed.
    mutating func results() -> [TestResult] {
        readHeld()
        endRun()
        return tests
    }

    /// The problems of the console itself, after `results()`.
    var problems: [String] {
        var problems: [String] = []
        if isOpen || isCut, !tests.contains(where: { $0.outcome == .crashed }) {
            problems.append("the output of XCTest ends before its run does")
        }
        if statesFailures, !tests.contains(where: \.outcome.isFailure) {
            problems.append("XCTest reports failed tests, but names none")
        }
        return problems
    }

    /// Reads a run's `started at …`, `passed at …` or `failed at …`. An end may follow a test's last output in one line.
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

    /// Returns whether a line is `Tests Failed: 1 failed, 0 skipped, 4 total (0.1 seconds)`, which xcbeautify prints instead of the tests' lines.
    private static func isXcbeautifyFailure(_ text: String) -> Bool {
        guard text.hasPrefix("Tests Failed: "), text.hasSuffix(" seconds)"), text.has(" failed, ") else { return false }
        return text.has(" skipped, ") && text.has(" total (")
    }

    private mutating func begin() { (isWithin, hasBegun) = (true, true) }

    /// Returns the number of failures in `14 tests, with 1 test skipped and 5 failures (0 unexpected) in 0.1 (0.1) seconds`; 0 for other texts.
    private static func failures(_ text: Substring) -> Int {
        let words = text.prefix(200).split(separator: " ")
        guard words.count > 1, words[1] == "test," || words[1] == "tests,",
            let place = words.firstIndex(where: { $0.hasPrefix("failure") }), place > 1
        else { return 0 }
        return TAPLine.number(words[place - 1]) ?? 0
    }

    /// Reads a test's line: `ParserTests.testIt' started at …`, `…' passed (0.1 seconds)` or `-[KitTests.ParserTests testIt]' failed (…)`.
    private mutating func takeTestCase(_ rest: Substring) -> Bool {
        guard let quote = rest.range(ofFirst: "' "), let test = Self.name(rest[..<quote.lowerBound]) else {
            return false
        }
        let words = rest[quote.upperBound...].split(separator: " ", maxSplits: 1)
        guard let word = words.first else { return false }
        let printed = String(rest[..<quote.lowerBound])
        // Outside of a run, no line is a test's start, nor the end of a test that has not started.
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
            // If a test runs again, its worse outcome stays.
            places[key] = (known.index, run)
            running = Running(index: known.index, printed: printed)
        } else {
            places[key] = (tests.count, run)
            running = Running(index: tests.count, printed: printed)
            tests.append(TestResult(suite: suite, name: test.name, outcome: .passed))
        }
        crash = CrashText()
    }

    /// Returns the suite with its module. It gets a number if one run has several classes and methods of one name.
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
            // The test's start is missing, because another process wrote into the line.
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
        // If a test is started again after a failure, the failure stays.
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
        // One process runs all tests, so the run's crash is the test's.
        if !isParallel, crash.message == nil, crashOfRun.signal != nil { crash = crashOfRun }
        endRunning(asCrash: true)
        run += 1
        // With `--parallel` each process has one test, so a repeated class and method is in another module.
        if !isParallel { seenInRun = [:] }
        crash = CrashText()
        if hasTestsInRun { crashOfRun = CrashText() }
        hasTestsInRun = false
        isWithin = false
    }

    /// Reads a failure such as `FILE:LINE: error: ParserTests.testIt : text`.
    private mutating func takeFailure(_ text: String) -> Bool {
        guard let range = text.range(ofFirst: ": error: "), let place = PrintedPlace(text[..<range.lowerBound]),
            DiagnosticLine.isXCTestFailure(String(text[range.upperBound...])),
            let separator = text[range.upperBound...].range(ofFirst: " : ")
        else { return false }
        // A line that names another test is a quotation.
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

    /// Reads a skip such as `FILE:LINE: ParserTests.testIt : Test skipped - why`.
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

    /// Reads a further line of a failure's text. The number of lines is limited, since the test's own output after it cannot be distinguished.
    private mutating func takeContinuation(_ text: String) {
        guard var now = running, now.continuation > 0, !now.messages.isEmpty, !text.isEmpty else { return }
        now.continuation -= 1
        now.messages[now.messages.count - 1] += "\n" + TextLimit.cut(text, toBytes: 1024)
        running = now
    }

    /// Reads a line such as `KitTests.ParserTests/testIt`. With `--parallel` there is one per ended test, which has passed unless later lines show
    /// otherwise.
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

    /// Returns the suite and name of `ParserTests.testIt` (Linux) or `-[KitTests.ParserTests testIt]` (macOS); `nil` for other texts.
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
