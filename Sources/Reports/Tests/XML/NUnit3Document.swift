import Model

/// NUnit 3's result: `test-run`, `test-suite` and `test-case`.
final class NUnit3Document: XMLTestCases, XMLTestsHandler {
    /// The open suites: whether they failed, the number of their failed cases, and their message.
    private var suites: [(name: String, isFailed: Bool, failures: Int, message: String)] = []

    func begin(_ element: String, _ attributes: [String: String], depth: Int) throws(XMLText.Refusal) {
        clearText()
        switch element {
        case "test-run":
            takeCounts(attributes, "failed")
            if attributes["result"] == "Failed" { takeCounts(["failed": "1"], "failed") }
        case "test-suite":
            // NUnit marks a suite that could not be loaded as skipped.
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
        // A suite's failure is read at the suite's end.
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
                // The suite's own set-up or tear-down failed.
                failures = 1
                failSuite(suite.name, suite.message)
            }
            if let last = suites.indices.last { suites[last].failures += failures }
        default: break
        }
        clearText()
    }

    private func failSuite(_ name: String, _ message: String) {
        // `open` fails only at the limit for all tests, where further failures are dropped.
        guard (try? open(TestResult(suite: name, name: "(suite)", outcome: .failed))) != nil else { return }
        clearText()
        consume(message)
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
