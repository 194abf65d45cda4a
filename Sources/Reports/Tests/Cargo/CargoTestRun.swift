import Encodings
import Model

/// What Rust's test harness says, whether as JSON or for users.
struct CargoTestRun: Sendable {
    private let root: SourceRoot
    private var suite = ""
    /// The number of tests that the running binary announced; `nil` between two binaries.
    private var expected: Int?
    private var tests: [TestResult] = []
    /// Where in `tests` those of the binary that is being run begin.
    private var first = 0
    /// Started and not ended, by name.
    private var open: Set<String> = []
    /// The place in `tests` of the binary's tests, for their output, which comes at its end.
    private var places: [String: Int] = [:]
    private(set) var problems: [String] = []
    private var notes: [String] = []
    private(set) var suites = 0
    /// Of all binaries, what they said to have.
    private var announced = 0
    /// The printed name of the binary that runs next; `nil` if none was printed since the last one began.
    private var next: String?
    /// Whether it is sure that the lines are those of a binary: its name was printed, or a test of it.
    private var isSure = false
    /// The numbers of tests of earlier runs without a name, a test or a summary. They were binaries' runs if such a run gets its summary.
    private var unsure: [Int] = []
    /// Whether another line that looks like a binary's beginning came in the open run.
    private var hasAnotherBeginning = false
    /// Whether the lines are a file's that a test tool wrote, so that no other program has printed them.
    private let isReport: Bool

    /// - Parameter isReport: Whether only a test tool can have written the lines.
    init(root: SourceRoot, isReport: Bool = false) { (self.root, self.isReport) = (root, isReport) }

    /// Whether a binary runs whose summary is still to come.
    var isOpen: Bool { expected != nil }

    /// `{ "type": "test", "event": "ok", "name": "tests::adds", "exec_time": 0.1 }`
    mutating func consume(_ event: JSON) {
        let name = event["name"].string ?? ""
        let seconds = event["exec_time"].double
        switch (event["type"].string, event["event"].string) {
        case ("suite", "started"): begin(expected: event["test_count"].int ?? 0)
        case ("suite", "ok"), ("suite", "failed"):
            end(counts: (event["passed"].int ?? 0, event["failed"].int ?? 0, event["ignored"].int ?? 0))
        case ("test", "started"): start(name)
        case ("test", "ok"): end(name, .passed, seconds: seconds)
        case ("test", "failed"):
            end(name, .failed, message: event["stdout"].string ?? event["message"].string, seconds: seconds)
        case ("test", "ignored"): end(name, .skipped, message: event["message"].string)
        // `timeout` says only that it takes long: it goes on after 60 seconds.
        default: break
        }
    }

    /// `Running unittests src/lib.rs (target/debug/deps/kit-bc7dfe0aad7b930d)`, `Doc-tests kit`
    mutating func name(_ suite: String) {
        next = TextLimit.cut(suite, toBytes: TextLimit.nameBytes)
    }

    /// Begins a binary's run by its printed line `running 2 tests`.
    ///
    /// A test can print such a line (`--nocapture`). In a run with tests, or with a name, it is a binary's only if Cargo named the binary before it.
    /// - Returns: Whether a run has begun.
    mutating func begin(printed count: Int) -> Bool {
        if expected != nil, next == nil, !suite.isEmpty || tests.count > first || !open.isEmpty {
            hasAnotherBeginning = true
            return false
        }
        let isSure = next != nil || isReport
        let before = self.isSure ? nil : expected
        begin(expected: count)
        if isSure {
            unsure = []
        } else if let before, unsure.count < 100 {
            unsure.append(before)
        }
        self.isSure = isSure
        return true
    }

    /// Takes a line of `cargo test -q`, which shows how many tests have ended, but not their names.
    mutating func consume(unnamed count: Int) {
        if let expected, count <= expected { isSure = true }
    }

    mutating func begin(expected: Int) {
        end(counts: nil)
        self.expected = expected
        (suite, next) = (next ?? "", nil)
        (isSure, hasAnotherBeginning) = (true, false)
        suites += 1
        announced += min(max(0, expected), ReportContent.maximumItems)
        first = tests.count
        places = [:]
    }

    mutating func start(_ name: String) {
        isSure = true
        if expected != nil, open.count < 10_000 { open.insert(TextLimit.cut(name, toBytes: TextLimit.nameBytes)) }
    }

    mutating func end(_ printed: String, _ outcome: TestResult.Outcome, message: String? = nil, seconds: Double? = nil)
    {
        guard expected != nil else { return }
        isSure = true
        guard tests.count < ReportContent.maximumItems else {
            if problems.isEmpty { problems.append("more than \(ReportContent.maximumItems) tests") }
            return
        }
        let name = TextLimit.cut(printed, toBytes: TextLimit.nameBytes)
        open.remove(name)
        var result = TestResult(suite: suite, name: name, outcome: outcome)
        if let message, !message.isEmpty { describe(&result, message) }
        if let seconds, seconds >= 0, seconds < 1e9 { result.duration = .seconds(seconds) }
        places[name] = tests.count
        tests.append(result)
    }

    /// Adds an output line of a failed test.
    mutating func output(_ line: String, of name: String) {
        guard let index = places[name], tests[index].outcome.isFailure else { return }
        tests[index].message.append(line: line)
        if let place = Self.place(line), tests[index].path == nil {
            (tests[index].path, tests[index].line) = (root.shown(place.path), place.line)
        }
    }

    /// Whether a printed summary can be the binary's own: it counts as many tests as there are.
    func mayEnd(with count: Int) -> Bool { expected == nil || expected == count }

    /// - Parameter counts: The binary's own summary; `nil` if it ended without one.
    mutating func end(counts: (passed: Int, failed: Int, ignored: Int)?) {
        guard let expected else { return }
        self.expected = nil
        guard isSure || counts != nil else {
            // Another program has printed a line that looks like a binary's first.
            (suites, announced) = (suites - 1, announced - min(max(0, expected), ReportContent.maximumItems))
            return
        }
        if counts != nil {
            for count in unsure { add(cutOff: "a test binary", count) }
            unsure = []
        }
        // The binary says that no test failed, so a test printed the apparent failure.
        if counts?.failed == 0 {
            tests[first...].removeAll { $0.outcome.isFailure }
            places = [:]
        }
        let named = tests.count - first
        let failed = tests[first...].count(where: \.outcome.isFailure)
        let passed = tests[first...].count { $0.outcome == .passed }
        // Where the binary says that all passed, the ends of some are lost among what they printed.
        let isAllPassed = counts.map { $0.failed == 0 && failed == 0 && $0.passed >= passed + open.count } ?? false
        for name in open.sorted() {
            tests.append(
                isAllPassed
                    ? TestResult(suite: suite, name: name, outcome: .passed)
                    : TestResult(suite: suite, name: name, outcome: .crashed, message: "started and never ended"))
        }
        let reported = isAllPassed ? open.count : 0
        open = []
        let what = suite.isEmpty ? "a test binary" : suite
        // Two binaries, the first of which was cut off.
        let isTwo = hasAnotherBeginning && tests.count - first > expected
        guard let counts, !isTwo else {
            return add(cutOff: what, expected)
        }
        if counts.failed == 0, failed == 0 {
            let lost = counts.passed - passed - reported
            if lost > 0 {
                notes.append("\(lost.counting("passed test")) of \(what) could not be identified in its output")
            }
        } else if failed != counts.failed || passed < counts.passed {
            add(
                problem:
                    "the output of \(what) contradicts itself: \(counts.passed) passed and \(counts.failed) failed, "
                    + "but \(named) were named and \(failed) of them failed")
        }
        suite = ""
    }

    /// Adds a sentence that keeps the tests from being green. Of many binaries the first such sentences are enough.
    private mutating func add(problem: String) {
        if problems.count < 100 { problems.append(problem) }
    }

    private mutating func add(cutOff binary: String, _ count: Int) {
        add(problem: "the output of \(binary) ends before its \(count.counting("test")) do")
    }

    mutating func content() -> ReportContent {
        end(counts: nil)
        var content = ReportContent(tests: JUnitRetries.numbered(tests), problems: problems, notes: notes)
        content.hasNoTests = suites > 0 && announced == 0 && tests.isEmpty
        return content
    }

    private func describe(_ result: inout TestResult, _ message: String) {
        let text = message.trimmingPrefix(while: \.isWhitespace).trimmingSuffix(while: \.isWhitespace)
        result.message = TextLimit.cut(String(text), toBytes: Finding.maximumMessageBytes)
        for line in text.prefix(4096).split(separator: "\n") {
            guard let place = Self.place(String(line)) else { continue }
            (result.path, result.line) = (root.shown(place.path), place.line)
            return
        }
    }

    /// `thread 'tests::fails' panicked at src/lib.rs:10:26:`, before Rust 1.73 `panicked at 'text', src/lib.rs:10:26`
    private static func place(_ line: String) -> PrintedPlace? {
        guard let range = line.range(ofFirst: " panicked at ") else { return nil }
        var text = line[range.upperBound...]
        if text.first == "'", let comma = text.range(ofLast: "', ") { text = text[comma.upperBound...] }
        return PrintedPlace(text.trimmingSuffix { $0 == ":" || $0 == " " })
    }
}
