import Model

/// NUnit 2's result: `test-results`, with cases whose names are full names.
final class NUnit2Document: XMLTestCases, XMLTestsHandler {
    /// The names of the suites that are open; those of fixtures are not whole.
    private var suites: [String] = []

    func begin(_ element: String, _ attributes: [String: String], depth: Int) throws(XMLText.Refusal) {
        clearText()
        switch element {
        case "test-results": takeCounts(attributes, "failures", "errors", "invalid")
        case "test-suite": suites.append(attributes["name"] ?? "")
        case "failure" where !isOpen && !suites.isEmpty:
            // The suite's own: its set-up or tear-down. Where only its tests failed it has none.
            try open(TestResult(suite: XMLTests.name(suites.last), name: "(suite)", outcome: .failed))
        case "failure": fail()
        default: break
        }
        guard element == "test-case" else { return }
        let (suite, name) = Self.split(attributes["name"] ?? "(unnamed)")
        try open(
            TestResult(
                suite: XMLTests.name(suite), name: XMLTests.name(name), outcome: Self.outcome(attributes),
                duration: XMLTests.duration(seconds: attributes["time"])))
    }

    func end(_ element: String, depth: Int) {
        switch element {
        case "message": takeMessage()
        case "stack-trace": takeStack()
        case "test-case": close()
        case "failure" where openName == "(suite)": close()
        case "test-suite": _ = suites.popLast()
        default: break
        }
        clearText()
    }

    /// Before NUnit 2.5 there was no `result`, only `executed` and `success`.
    private static func outcome(_ attributes: [String: String]) -> TestResult.Outcome {
        switch attributes["result"] {
        case "Success": .passed
        case "Ignored", "Skipped", "Inconclusive": .skipped
        case nil where attributes["executed"]?.lowercased() == "false": .skipped
        // A `<failure>` within makes it a failed one.
        case nil where attributes["success"]?.lowercased() != "false": .passed
        default: .failed
        }
    }

    /// `Kit.Tests.ParserTests.Parses("a.b")` is `Parses("a.b")` of `Kit.Tests.ParserTests`.
    static func split(_ full: String) -> (suite: String, name: String) {
        let head = full.utf8.prefix { $0 != UInt8(ascii: "(") }
        guard let dot = head.lastIndex(of: UInt8(ascii: ".")) else { return ("", full) }
        return (String(full[..<dot]), String(full[full.utf8.index(after: dot)...]))
    }
}
