import Model

/// CppUnit's XmlOutputter output: `FailedTests` and `SuccessfulTests`.
final class CppUnitDocument: XMLTestCases, XMLTestsHandler {
    private var name = ""
    private var path: String?
    private var line: Int?
    private var isFailed = false
    /// Whether the tests in the open element have failed. AUnit names those `Test`, too.
    private var isFailing = false
    private var isTest = false
    private var hasTests = false

    func begin(_ element: String, _ attributes: [String: String], depth: Int) throws(XMLText.Refusal) {
        clearText()
        switch element {
        case "FailedTests", "SuccessfulTests": (hasTests, isFailing) = (true, element == "FailedTests")
        case "FailedTest", "Test":
            (name, path, line, isFailed, isTest) = ("", nil, nil, isFailing, true)
            try open(TestResult(suite: "", name: "", outcome: isFailed ? .failed : .passed))
        default: break
        }
    }

    func end(_ element: String, depth: Int) {
        let value = String(text.trimmingPrefix(while: \.isWhitespace).trimmingSuffix(while: \.isWhitespace))
        switch element {
        case "Name" where isTest: name = value
        case "File" where isTest: path = value.isEmpty ? nil : root.shown(value)
        case "Line" where isTest: line = TAPLine.number(Substring(value)).flatMap { $0 > 0 ? $0 : nil }
        case "Message": takeMessage()
        case "FailuresTotal": takeCounts(["failures": value], "failures")
        case "FailedTest", "Test": end()
        default: break
        }
        clearText()
    }

    private func end() {
        guard isTest else { return }
        isTest = false
        close()
        // `MathTest::testSum`
        let colons = name.range(ofLast: "::")
        edit(tests.count - 1) { result in
            result.suite = XMLTests.name(colons.map { String(name[..<$0.lowerBound]) })
            result.name = XMLTests.name(colons.map { String(name[$0.upperBound...]) } ?? name)
            if result.name.isEmpty { result.name = "(unnamed)" }
            (result.path, result.line) = (path, path == nil ? nil : line)
        }
    }

    override func content(problem: String?) -> ReportContent {
        if problem == nil, !hasTests { return .unreadable("a TestRun that is neither CppUnit's nor TRX") }
        return super.content(problem: problem)
    }
}
