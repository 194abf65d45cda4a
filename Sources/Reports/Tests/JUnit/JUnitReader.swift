import Model

/// A reader of JUnit XML in the dialects of Ant, Maven Surefire, Gradle, pytest, GoogleTest, Jest, Mocha, nextest, go-junit-report, SwiftPM and Swift
/// Testing.
///
/// There is no standard. The reader uses what these dialects have in common: `testcase` elements in `testsuite` elements, nested or not. It counts
/// the cases and does not use the counts that a file states.
package enum JUnitReader {
    /// Returns the report's tests in their order.
    ///
    /// A document type is refused, since it can define entities. Content that XML forbids but tools write (control characters, bytes that are not
    /// UTF-8) is replaced. A file that ends early gives the tests before the end and a problem. A case that failed and was then repeated until it
    /// passed is flaky: Surefire's `flakyFailure`, or the same case repeated.
    package static func read(_ bytes: [UInt8], root: SourceRoot) -> ReportContent {
        let document = JUnitDocument(root: root)
        return document.content(problem: XMLReport.read(bytes, into: document))
    }
}

/// The state of reading a JUnit report, element by element.
final class JUnitDocument: XMLTestsHandler {
    /// An open `testsuite` element.
    private struct Suite {
        var name: String
        /// Whether it states a count of failures, so that its cases must contain at least one.
        var statesFailures: Bool
        var failures = 0
        /// The number of the suite among all of the file.
        var number = 0
    }

    /// An open `testcase`, or a failure of a suite itself.
    private struct Case {
        var result: TestResult
        /// Whether CTest reports that it did not run the test, for any reason.
        var isNotRun = false
        /// Whether Node reports that the test may fail.
        var isTodo = false
    }

    /// The element whose text is being read.
    private struct Capture {
        var element: String
        var attribute: String
        var isTodo = false
        var text = ""
    }

    static let roots: Set<String> = ["testsuites", "testsuite"]
    /// The name of the test that stands for a suite's own failure.
    private static let ownName = "(suite)"
    /// The words in attributes of cases that tools use for skipped tests. `failed` contains the beginnings of the words for failed ones.
    private static let skipped: Set<String> = [
        "skipped", "disabled", "notrun", "ignored", "suppressed", "pending", "skip",
    ]
    private static let failed = [
        "fail", "error", "timeout", "timedout", "timed_out", "timed-out", "timed out", "broken", "abort", "interrupt",
        "crash", "killed",
    ]
    private static let maximumProblems = 100
    private let root: SourceRoot
    private var suites: [Suite] = []
    private var open: Case?
    private var capture: Capture?
    private var tests: [TestResult] = []
    /// The number of each test's suite.
    private var owners: [Int] = []
    private var suiteCount = 0
    /// The suites that count failures or state no counts. In these, repeated cases are not considered retries that passed.
    private var failing: Set<Int> = []
    private var problems: [String] = []
    /// Whether each suite is named as pytest names its only one.
    private var isPytest = true

    init(root: SourceRoot) { self.root = root }

    func content(problem: String?) -> ReportContent {
        // Cases directly below the root come from many files and may have the same names.
        let places = owners.map { $0 == 0 || failing.contains($0) ? nil : $0 }
        var content = ReportContent(tests: JUnitRetries.joined(tests, within: places), problems: problems)
        content.tool = isPytest && suiteCount > 0 ? .pytest : nil
        if let problem { content.problems.insert(contentsOf: ReportContent.unreadable(problem).problems, at: 0) }
        return content
    }

    func begin(_ element: String, _ attributes: [String: String], depth: Int) throws(XMLText.Refusal) {
        if depth == 1, !Self.roots.contains(element) {
            let name = TextLimit.cut(element, toBytes: 60)
            throw XMLText.Refusal(text: "the root element is <\(name)>, not a JUnit report's")
        }
        switch element {
        case "testsuites", "testsuite":
            let states = ["failures", "errors"].contains { StatedCount.isPositive(attributes[$0]) }
            if element == "testsuite" {
                suiteCount += 1
                isPytest = isPytest && attributes["name"] == "pytest"
                // A suite without counts does not show whether a failed case passed when it was repeated.
                let isCounted = attributes["failures"] != nil || attributes["errors"] != nil
                if states || !isCounted { failing.insert(suiteCount) }
            }
            suites.append(
                Suite(
                    name: element == "testsuite" ? attributes["name"] ?? "" : "", statesFailures: states,
                    number: element == "testsuite" ? suiteCount : 0))
        case "testcase":
            // A case within another one: both are tests.
            end()
            try begin(attributes)
        case "failure", "error", "skipped", "flakyFailure", "flakyError", "rerunFailure", "rerunError", "warning":
            if open == nil, !suites.isEmpty, element == "failure" || element == "error" {
                // The suite itself failed: in its set-up, or before any case.
                open = Case(result: TestResult(suite: suiteName(), name: Self.ownName, outcome: .passed))
            }
            if open != nil, capture == nil {
                capture = Capture(
                    element: element, attribute: attributes["message"] ?? attributes["type"] ?? "",
                    isTodo: element == "skipped" && attributes["type"] == "todo")
            }
        default: break
        }
    }

    func end(_ element: String, depth: Int) {
        if let ended = capture, ended.element == element {
            capture = nil
            record(ended)
            if open?.result.name == Self.ownName { end() }
        } else if element == "testcase" {
            end()
        } else if Self.roots.contains(element), let suite = suites.popLast() {
            if suite.statesFailures, suite.failures == 0 {
                if problems.count < Self.maximumProblems {
                    let what = suite.name.isEmpty ? "it" : "suite \(name(suite.name))"
                    problems.append(
                        "the report contradicts itself: \(what) counts failures, but no test case in it failed")
                }
                // The problem is reported once, and not for each enclosing suite.
                if let last = suites.indices.last { suites[last].failures += 1 }
            }
            if !suites.isEmpty { suites[suites.count - 1].failures += suite.failures }
        }
    }

    func consume(_ text: String) {
        guard let count = capture?.text.utf8.count, count < Finding.maximumMessageBytes else { return }
        capture?.text += text
    }

    private func begin(_ attributes: [String: String]) throws(XMLText.Refusal) {
        guard tests.count < ReportContent.maximumItems else {
            throw XMLText.Refusal(text: "more than \(ReportContent.maximumItems) cases")
        }
        var suite = attributes["classname"] ?? attributes["class"] ?? ""
        // Node's runner has the same class name in every case, and its `describe` blocks are suites.
        if suite.isEmpty || (suite == "test" && !suiteName().isEmpty) { suite = suiteName() }
        var result = TestResult(suite: name(suite), name: name(attributes["name"] ?? "(unnamed)"), outcome: .passed)
        if let file = attributes["file"], !file.isEmpty {
            result.path = root.shown(file)
            result.line = attributes["line"].flatMap { Int($0) }.flatMap { $0 > 0 ? $0 : nil }
        }
        result.duration = JUnitNumber.duration(attributes["time"])
        // CTest, GoogleTest and others state the outcome in an attribute, not in an element.
        for word in [attributes["status"], attributes["result"]].compactMap({ $0?.prefix(40).lowercased() }) {
            if Self.skipped.contains(word) { result.outcome = .skipped }
            if Self.failed.contains(where: word.hasPrefix) {
                result.outcome = .failed
                break
            }
        }
        if attributes["status"]?.lowercased() == "notrun" { result.outcome = .skipped }
        open = Case(result: result, isNotRun: attributes["status"]?.lowercased() == "notrun")
    }

    private func record(_ ended: Capture) {
        guard var result = open?.result else { return }
        let outcome: TestResult.Outcome =
            switch ended.element {
            // CTest's console counts a test without its program, or with a failed set-up, as failed; its report marks it as skipped.
            case "skipped": open?.isNotRun == true && Self.isFailure(ended.attribute) ? .failed : .skipped
            // If there is no failure, the last of its runs passed.
            case "flakyFailure", "flakyError", "rerunFailure", "rerunError": .flaky
            default: .failed
            }
        if ended.isTodo { open?.isTodo = true }
        // A failure overrides all other elements of the same case.
        guard !result.outcome.isFailure || outcome == .failed else { return }
        let isWorse = result.outcome != outcome
        result.outcome = outcome
        let message = JUnitMessage(attribute: ended.attribute, text: ended.text, root: root)
        if isWorse || result.message == nil {
            result.message = message.text
        } else if let text = message.text {
            result.message = TextLimit.cut(
                (result.message ?? "") + "\n" + text, toBytes: Finding.maximumMessageBytes)
        }
        if let path = message.path, result.path == nil { (result.path, result.line) = (path, message.line) }
        if message.isCrash { result.outcome = .crashed }
        open?.result = result
    }

    /// Returns whether a test did not run for a reason that was not requested. `SKIP_RETURN_CODE=77` and similar reasons are requested.
    private static func isFailure(_ reason: String) -> Bool {
        !reason.isEmpty && !reason.hasPrefix("SKIP_") && reason != "Disabled"
    }

    private func end() {
        guard var ended = open else { return }
        open = nil
        capture = nil
        if ended.result.outcome.isFailure, !suites.isEmpty { suites[suites.count - 1].failures += 1 }
        if ended.isTodo, ended.result.outcome.isFailure { ended.result.outcome = .knownIssue }
        tests.append(ended.result)
        owners.append(suites.last?.number ?? 0)
    }

    /// Returns the names of the open suites, the outermost first.
    private func suiteName() -> String {
        name(suites.map(\.name).filter { !$0.isEmpty }.joined(separator: " > "))
    }

    private func name(_ text: String?) -> String { TextLimit.cut(text ?? "", toBytes: TextLimit.nameBytes) }
}

/// A reader of numbers as JUnit reports write them.
enum JUnitNumber {
    /// Returns a duration from seconds such as `0.25` or `1,234.5` (Ant in English locales). Negative ones, and those of a billion or more, give
    /// `nil`.
    static func duration(_ text: String?) -> Duration? {
        guard let text, text.utf8.count <= 40 else { return nil }
        guard let seconds = Double(text.filter { $0 != "," }), seconds >= 0, seconds < 1e9 else { return nil }
        return .seconds(seconds)
    }
}
