import Model

/// A dialect of XML that produces a report's content.
protocol XMLTestsHandler: XMLHandler {
    /// Returns the content.
    /// - Parameter problem: Why and where the document could not be read to its end; `nil` if it was read completely.
    func content(problem: String?) -> ReportContent
}

enum XMLTests {
    static func read(_ bytes: [UInt8], _ handler: any XMLTestsHandler) -> ReportContent {
        handler.content(problem: XMLReport.read(bytes, into: handler))
    }

    /// Returns the place in a .NET stack trace that is nearest to the failure: `at Kit.A.B() in /kit/A.cs:line 12`. `nil` if there is none.
    static func dotnetPlace(_ stack: String, root: SourceRoot) -> (path: String, line: Int)? {
        for line in stack.utf8.prefix(16 * 1024).split(separator: 0x0A).prefix(100) {
            let text = Substring(line)
            guard let mark = text.range(ofLast: ":line "), let place = text[..<mark.lowerBound].range(ofLast: " in "),
                let number = TAPLine.number(text[mark.upperBound...].prefix { $0.isASCII && $0.isNumber })
            else { continue }
            return (root.shown(String(text[place.upperBound..<mark.lowerBound])), number)
        }
        return nil
    }

    static func name(_ text: String?) -> String { TextLimit.cut(text ?? "", toBytes: TextLimit.nameBytes) }

    static func duration(seconds text: String?) -> Duration? { JUnitNumber.duration(text) }
}

/// The common part of the .NET dialects: cases in suites, with a message and a stack.
class XMLTestCases {
    let root: SourceRoot
    private(set) var tests: [TestResult] = []
    private(set) var problems: [String] = []
    /// Whether the report counts failures of any kind.
    private var statesFailures = false
    private var open: TestResult?
    private var message = ""
    private var stack = ""
    private(set) var text = ""

    init(root: SourceRoot) { self.root = root }

    /// The indexes of tests that must be left out, which are only known at the end.
    var left: Set<Int> { [] }

    var isOpen: Bool { open != nil }
    var openName: String? { open?.name }

    /// Opens a case.
    /// - Throws: If the report has more cases than the limit.
    func open(_ result: TestResult) throws(XMLText.Refusal) {
        guard tests.count < ReportContent.maximumItems else {
            throw XMLText.Refusal(text: "more than \(ReportContent.maximumItems) cases")
        }
        (open, message, stack) = (result, "", "")
    }

    func consume(_ text: String) { TextLimit.append(text, to: &self.text) }

    func clearText() { text = "" }

    func takeMessage() { if open != nil, message.isEmpty { message = trimmed(text) } }

    func takeStack() { if open != nil, stack.isEmpty { stack = trimmed(text) } }

    /// Marks the open case as failed.
    func fail() { open?.outcome = .failed }

    /// Ends the open case.
    func close() {
        guard var result = open else { return }
        open = nil
        if result.outcome != .passed {
            let parts = [message, result.outcome.isFailure ? stack : ""].filter { !$0.isEmpty }
            if !parts.isEmpty {
                result.message = TextLimit.cut(
                    parts.joined(separator: "\n"), toBytes: Finding.maximumMessageBytes)
            }
            if result.path == nil, let place = XMLTests.dotnetPlace(stack, root: root) {
                (result.path, result.line) = place
            }
        }
        tests.append(result)
    }

    /// Reads attributes that count failures.
    func takeCounts(_ attributes: [String: String], _ names: String...) {
        if names.contains(where: { StatedCount.isPositive(attributes[$0]) }) { statesFailures = true }
    }

    func add(problem: String) { problems.append(TextLimit.cut(problem, toBytes: 1000)) }

    /// Changes a test with information that is only known later.
    func edit(_ index: Int, _ change: (inout TestResult) -> Void) { change(&tests[index]) }

    func content(problem: String?) -> ReportContent {
        if statesFailures, problems.isEmpty, !tests.contains(where: \.outcome.isFailure) {
            add(problem: "the report contradicts itself: it counts failures, but no test in it failed")
        }
        let left = left
        let kept = left.isEmpty ? tests : tests.indices.filter { !left.contains($0) }.map { tests[$0] }
        var content = ReportContent(tests: JUnitRetries.numbered(kept), problems: problems)
        if let problem { content.problems.insert(contentsOf: ReportContent.unreadable(problem).problems, at: 0) }
        return content
    }

    private func trimmed(_ text: String) -> String {
        String(text.trimmingPrefix(while: \.isWhitespace).trimmingSuffix(while: \.isWhitespace))
    }
}
