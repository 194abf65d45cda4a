import Model

/// CTest's `Test.xml`, which `ctest -T Test` writes for a dashboard.
final class CTestDocument: XMLTestsHandler {
    private var tests: [TestResult] = []
    private var hasTesting = false
    /// The number of tests in the list of tests to run.
    private var listed = 0
    private var open: (status: String, name: String, path: String, seconds: Double?, completion: String, code: String)?
    private var output = ""
    /// The name of the measurement that is open; empty for the test's output.
    private var measurement: String?
    private var isEncoded = false
    private var text = ""

    init(root: SourceRoot) {}

    func content(problem: String?) -> ReportContent {
        // Several directories may have tests of one name.
        var content = ReportContent(tests: JUnitRetries.numbered(tests))
        if listed > tests.count {
            content.problems = [
                "the report contradicts itself: \(listed.counting("test")) listed, but \(tests.count) came"
            ]
        }
        if let problem {
            content.problems = ReportContent.unreadable(problem).problems
        } else if !hasTesting {
            content = .unreadable("CTest's file of another step: it has no <Testing>")
        }
        return content
    }

    func begin(_ element: String, _ attributes: [String: String], depth: Int) throws(XMLText.Refusal) {
        text = ""
        switch element {
        case "Testing": hasTesting = true
        case "Test" where depth == 4: listed += 1
        case "Test" where depth == 3:
            guard tests.count < ReportContent.maximumItems else {
                throw XMLText.Refusal(text: "more than \(ReportContent.maximumItems) tests")
            }
            open = (attributes["Status"] ?? "", "", "", nil, "", "")
            output = ""
        case "NamedMeasurement": measurement = attributes["name"] ?? ""
        case "Measurement": measurement = ""
        case "Value": isEncoded = attributes["encoding"] != nil || attributes["compression"] != nil
        default: break
        }
    }

    func consume(_ text: String) { TextLimit.append(text, to: &self.text) }

    func end(_ element: String, depth: Int) {
        switch element {
        case "Name" where depth == 4: open?.name = text
        case "Path" where depth == 4: open?.path = text
        case "Value": consume(value: text)
        case "NamedMeasurement", "Measurement": measurement = nil
        case "Test" where depth == 3: end()
        default: break
        }
        text = ""
    }

    private func consume(value: String) {
        switch measurement {
        case "Execution Time": open?.seconds = Double(value)
        case "Completion Status": open?.completion = value
        case "Exit Code": open?.code = value
        // Compressed output is not expanded, since the log contains it.
        case "": output = isEncoded ? "" : value
        default: break
        }
    }

    private func end() {
        guard let test = open else { return }
        open = nil
        var path = test.path.hasPrefix("./") ? String(test.path.dropFirst(2)) : test.path
        if path == "." { path = "" }
        let name = test.name.isEmpty ? "(unnamed)" : test.name
        var result = TestResult(
            suite: TextLimit.cut(path, toBytes: TextLimit.nameBytes),
            name: TextLimit.cut(name, toBytes: TextLimit.nameBytes), outcome: .passed)
        var reason = test.code
        switch test.status.lowercased() {
        case "passed": break
        case "notrun":
            // CTest's console counts in the same way: a test that did not run without a skip request has failed.
            reason = test.completion
            result.outcome = reason.hasPrefix("SKIP_") || reason == "Disabled" ? .skipped : .failed
        default:
            let crashes: Set<String> = ["SEGFAULT", "ILLEGAL", "INTERRUPT", "NUMERICAL", "OTHER_FAULT"]
            result.outcome = crashes.contains(reason) ? .crashed : .failed
        }
        if let seconds = test.seconds, seconds >= 0, seconds < 1e9 { result.duration = .seconds(seconds) }
        if result.outcome != .passed {
            let trimmed = output.trimmingPrefix(while: \.isWhitespace).trimmingSuffix(while: \.isWhitespace)
            let lines = [reason, String(trimmed)].filter { !$0.isEmpty }
            result.message = TextLimit.cut(lines.joined(separator: "\n"), toBytes: Finding.maximumMessageBytes)
        }
        tests.append(result)
    }
}
