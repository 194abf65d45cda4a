import Model

/// NUnit 2's result: `test-results`, with cases whose names are full names.
final class NUnit2Document: XMLTestCases, XMLTestsHandler {
    func begin(_ element: String, _ attributes: [String: String], depth: Int) throws(XMLText.Refusal) {
        clearText()
        if element == "failure" { fail() }
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
