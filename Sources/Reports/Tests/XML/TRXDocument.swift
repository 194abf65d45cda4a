import Model

/// Visual Studio's TRX, which `dotnet test --logger trx` writes.
final class TRXDocument: XMLTestCases, XMLTestsHandler {
    /// The classes of tests by id. They follow the results.
    private var classes: [String: String] = [:]
    private var definition: String?
    /// The test id of each result.
    private var identifiers: [String] = []
    private var pending: [String] = []
    private var summary: String?
    private var runInfo = ""

    func begin(_ element: String, _ attributes: [String: String], depth: Int) throws(XMLText.Refusal) {
        clearText()
        switch element {
        case "UnitTestResult", "WebTestResult", "ManualTestResult", "GenericTestResult", "TestResultAggregation":
            // A result with inner results is their combination.
            if isOpen { end() }
            try open(
                TestResult(
                    suite: "", name: XMLTests.name(attributes["testName"] ?? "(unnamed)"),
                    outcome: Self.outcome(attributes["outcome"]), duration: Self.duration(attributes["duration"])))
            pending.append(attributes["testId"] ?? "")
        case "UnitTest": definition = attributes["id"]
        case "TestMethod":
            if let id = definition, let name = attributes["className"] {
                // Before 2012 the name includes the assembly: `Kit.Tests, Kit, Version=…`.
                classes[id] = XMLTests.name(name.split(separator: ",").first.map(String.init))
            }
        case "ResultSummary": summary = attributes["outcome"]
        case "Counters": takeCounts(attributes, "failed", "error", "timeout", "aborted")
        default: break
        }
    }

    func end(_ element: String, depth: Int) {
        switch element {
        case "Message": takeMessage()
        case "StackTrace": takeStack()
        case "Text": if summary != nil, runInfo.isEmpty { runInfo = TextLimit.cut(text, toBytes: 500) }
        case "UnitTestResult", "WebTestResult", "ManualTestResult", "GenericTestResult", "TestResultAggregation": end()
        default: break
        }
        clearText()
    }

    private func end() {
        guard isOpen, let id = pending.popLast() else { return }
        close()
        identifiers.append(id)
    }

    override func content(problem: String?) -> ReportContent {
        for (index, id) in identifiers.enumerated() {
            guard let suite = classes[id] else { continue }
            edit(index) { result in
                result.suite = suite
                if result.name.hasPrefix(suite + ".") { result.name = String(result.name.dropFirst(suite.count + 1)) }
            }
        }
        let failed: Set<String> = ["Failed", "Error", "Timeout", "Aborted"]
        if let summary, failed.contains(summary), !tests.contains(where: \.outcome.isFailure) {
            add(
                problem: "the run ended as \(summary) without any failing test"
                    + (runInfo.isEmpty ? "" : ": " + runInfo))
        }
        return super.content(problem: problem)
    }

    private static func outcome(_ outcome: String?) -> TestResult.Outcome {
        switch outcome {
        case "Passed", "Completed", "Warning": .passed
        case "NotExecuted", "Inconclusive": .skipped
        default: .failed
        }
    }

    /// Returns a duration such as `00:00:01.2345678`; `nil` for other texts.
    private static func duration(_ text: String?) -> Duration? {
        let parts = (text ?? "").prefix(40).split(separator: ":").compactMap { Double($0) }
        guard parts.count == 3, parts.allSatisfy({ $0 >= 0 && $0 < 1e6 }) else { return nil }
        return .seconds(parts[0] * 3600 + parts[1] * 60 + parts[2])
    }
}
