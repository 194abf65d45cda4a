import Model

/// NUnit 3's result: `test-run`, `test-suite` and `test-case`.
final class NUnit3Document: XMLTestCases, XMLTestsHandler {
    /// Suites that are open: whether they failed and what they said, and how many of their cases failed.
    private var suites: [(name: String, isFailed: Bool, failures: Int, message: String)] = []

    func begin(_ element: String, _ attributes: [String: String], depth: Int) throws(XMLText.Refusal) {
        clearText()
        switch element {
        case "test-run":
            takeCounts(attributes, "failed")
            if attributes["result"] == "Failed" { takeCounts(["failed": "1"], "failed") }
        case "test-suite":
            // One that could not be loaded is called skipped.
            let isFailed =
                attributes["result"] == "Failed" || attributes["label"] == "Invalid"
                || attributes["label"] == "Error"
            suites.append(
                (
                    XMLTests.name(attributes["fullname"] ?? attributes["name"]),
                    isFailed && attributes["site"] != "Parent", 0, ""
                ))
        case "test-case":
            let full = attributes["fullname"] ?? attributes["name"] ?? "(unnamed)"
            var suite = attributes["classname"] ?? ""
            var name = attributes["name"] ?? full
            if suite.isEmpty { (suite, name) = NUnit2Document.split(full) }
            try open(
                TestResult(
                    suite: XMLTests.name(suite), name: XMLTests.name(name),
                    outcome: Self.outcome(attributes["result"], label: attributes["label"]),
                    duration: XMLTests.duration(seconds: attributes["duration"] ?? attributes["time"])))
        // A suite's is read at its end.
        case "failure": fail()
        default: break
        }
    }

    func end(_ element: String, depth: Int) {
        switch element {
        case "message":
            if isOpen { takeMessage() } else if let last = suites.indices.last { suites[last].message = text }
        case "stack-trace": takeStack()
        case "test-case":
            close()
            if tests.last?.outcome.isFailure == true, let last = suites.indices.last { suites[last].failures += 1 }
        case "test-suite":
            guard let suite = suites.popLast() else { return }
            var failures = suite.failures
            if suite.isFailed, failures == 0 {
                // Its own set-up or tear-down failed.
                failures = 1
                failSuite(suite.name, suite.message)
            }
            if let last = suites.indices.last { suites[last].failures += failures }
        default: break
        }
        clearText()
    }

    private func failSuite(_ name: String, _ message: String) {
        // The limit is that of cases, which a suite alone cannot reach.
        guard (try? open(TestResult(suite: name, name: "(suite)", outcome: .failed))) != nil else { return }
        clearText()
        take(message)
        takeMessage()
        close()
    }

    private static func outcome(_ result: String?, label: String?) -> TestResult.Outcome {
        switch result {
        case "Passed", "Warning": .passed
        case "Skipped": label == "Invalid" ? .failed : .skipped
        case "Inconclusive": .skipped
        default: .failed
        }
    }
}
