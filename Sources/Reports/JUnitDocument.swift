import Model

/// The state of reading a JUnit report element by element.
final class JUnitDocument: XMLTestsHandler {
    /// A `testsuite` that is open.
    private struct Suite {
        var name: String
        /// What it states of itself, against which nothing may be missing.
        var statedFailures: Int
        var failures = 0
    }

    /// A `testcase` that is open, or a failure of a suite itself.
    private struct Case {
        var result: TestResult
        /// CTest's word for a test that it did not run, whatever the reason.
        var isNotRun = false
    }

    /// The element whose text is wanted.
    private struct Capture {
        var element: String
        var attribute: String
        var text = ""
    }

    static let roots: Set<String> = ["testsuites", "testsuite"]
    private let root: SourceRoot
    private var suites: [Suite] = []
    private var open: Case?
    private var capture: Capture?
    private var tests: [TestResult] = []
    private var problems: [String] = []

    init(root: SourceRoot) { self.root = root }

    func content(problem: String?) -> ReportContent {
        var content = ReportContent(tests: JUnitRetries.joined(tests), problems: problems)
        if let problem { content.problems.insert(contentsOf: ReportContent.unreadable(problem).problems, at: 0) }
        return content
    }

    func begin(_ element: String, _ attributes: [String: String], depth: Int) throws(XMLText.Refusal) {
        if depth == 1, !Self.roots.contains(element) {
            let name = TextLimit.cut(element, toBytes: 60)
            throw XMLText.Refusal(text: "the root element is <\(name)>, not a JUnit report's")
        }
        switch element {
        case "testsuite":
            let stated = ["failures", "errors"].compactMap { attributes[$0].flatMap { Int($0) } }.filter { $0 > 0 }
            // A number as large as an Int has is a lie; saturate instead of overflowing.
            suites.append(Suite(name: attributes["name"] ?? "", statedFailures: stated.isEmpty ? 0 : 1))
        case "testcase": try begin(attributes)
        case "failure", "error", "skipped", "flakyFailure", "flakyError":
            if open == nil, !suites.isEmpty, element == "failure" || element == "error" {
                // The suite itself failed: in its set-up, or before any case.
                open = Case(
                    result: TestResult(suite: name(suites.last?.name), name: "(suite)", outcome: .passed))
            }
            if open != nil, capture == nil {
                capture = Capture(element: element, attribute: attributes["message"] ?? attributes["type"] ?? "")
            }
        default: break
        }
    }

    func end(_ element: String, depth: Int) {
        if let ended = capture, ended.element == element {
            capture = nil
            record(ended)
            if open?.result.name == "(suite)" { end() }
        } else if element == "testcase" {
            end()
        } else if element == "testsuite", let suite = suites.popLast() {
            if suite.statedFailures > 0, suite.failures == 0 {
                problems.append(
                    "the report contradicts itself: suite \(name(suite.name)) counts failures, none of its cases has one"
                )
            }
            if !suites.isEmpty { suites[suites.count - 1].failures += suite.failures }
        }
    }

    func take(_ text: String) {
        guard let count = capture?.text.utf8.count, count < Finding.maximumMessageBytes else { return }
        capture?.text += text
    }

    private func begin(_ attributes: [String: String]) throws(XMLText.Refusal) {
        guard tests.count < ReportContent.maximumItems else {
            throw XMLText.Refusal(text: "more than \(ReportContent.maximumItems) cases")
        }
        var suite = attributes["classname"] ?? attributes["class"] ?? ""
        if suite.isEmpty { suite = suites.last?.name ?? "" }
        var result = TestResult(suite: name(suite), name: name(attributes["name"] ?? "(unnamed)"), outcome: .passed)
        if let file = attributes["file"], !file.isEmpty {
            result.path = root.shown(file)
            result.line = attributes["line"].flatMap { Int($0) }.flatMap { $0 > 0 ? $0 : nil }
        }
        result.duration = JUnitNumber.duration(attributes["time"])
        // CTest, GoogleTest and others say it in an attribute, not in an element.
        switch (attributes["result"] ?? attributes["status"])?.lowercased() {
        case "fail", "failed", "failure", "error": result.outcome = .failed
        case "skipped", "disabled", "notrun", "ignored", "suppressed", "pending": result.outcome = .skipped
        default: break
        }
        if attributes["status"]?.lowercased() == "notrun" { result.outcome = .skipped }
        open = Case(result: result, isNotRun: attributes["status"]?.lowercased() == "notrun")
    }

    private func record(_ ended: Capture) {
        guard var result = open?.result else { return }
        let outcome: TestResult.Outcome =
            switch ended.element {
            // Its console counts a test without its program, or whose set-up failed, as failed; its report says skipped.
            case "skipped": open?.isNotRun == true && Self.isFailure(ended.attribute) ? .failed : .skipped
            case "flakyFailure", "flakyError": .flaky
            default: .failed
            }
        // A failure wins over everything that the same case says besides.
        guard result.outcome != .failed || outcome == .failed else { return }
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

    /// Of a test that CTest did not run: whether nobody asked for that. `SKIP_RETURN_CODE=77` and the like are asked for.
    private static func isFailure(_ reason: String) -> Bool {
        !reason.isEmpty && !reason.hasPrefix("SKIP_") && reason != "Disabled"
    }

    private func end() {
        guard let ended = open else { return }
        open = nil
        capture = nil
        if ended.result.outcome.isFailure, !suites.isEmpty { suites[suites.count - 1].failures += 1 }
        tests.append(ended.result)
    }

    private func name(_ text: String?) -> String { TextLimit.cut(text ?? "", toBytes: TextLimit.nameBytes) }
}
