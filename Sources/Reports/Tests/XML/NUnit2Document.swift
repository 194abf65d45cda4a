import Model

/// NUnit 2's result: `test-results` with cases that have full names.
final class NUnit2Document: XMLTestCases, XMLTestsHandler {
    /// The names of the open suites. The names of fixtures are not full names.
    private var suites: [String] = []
    /// For each open suite, the number of cases that had failed before it, and the index of its own failure in `tests`.
    private var marks: [(failures: Int, own: Int?)] = []
    private var failures = 0
    /// The indexes of suites' failures that only report a failed case.
    private var echoes: Set<Int> = []

    override var left: Set<Int> { echoes }

    func begin(_ element: String, _ attributes: [String: String], depth: Int) throws(XMLText.Refusal) {
        clearText()
        switch element {
        case "test-results": takeCounts(attributes, "failures", "errors", "invalid")
        case "test-suite":
            suites.append(attributes["name"] ?? "")
            marks.append((failures, nil))
        case "failure" where !isOpen && !suites.isEmpty:
            // This is the suite's own failure: of its set-up or tear-down, or an echo of its tests' failures.
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
        case "test-case":
            close()
            if tests.last?.outcome.isFailure == true { failures += 1 }
        case "failure" where openName == "(suite)":
            close()
            if !marks.isEmpty { marks[marks.count - 1].own = tests.count - 1 }
        case "test-suite":
            _ = suites.popLast()
            guard let mark = marks.popLast(), let own = mark.own else { break }
            // A failure of the suite's own set-up or tear-down has another text, and counts beside those of its cases.
            let isEcho = tests[own].message.map { Self.echoes.contains(where: $0.hasPrefix) } ?? false
            if isEcho, failures > mark.failures { echoes.insert(own) } else { failures += 1 }
        default: break
        }
        clearText()
    }

    /// The beginnings of NUnit's messages for a suite with a failed case.
    private static let echoes = ["One or more child tests had ", "Child test failed", "One or more child tests failed"]

    /// Returns the outcome of a case. Before NUnit 2.5 there was no `result`, only `executed` and `success`.
    private static func outcome(_ attributes: [String: String]) -> TestResult.Outcome {
        switch attributes["result"] {
        case "Success": .passed
        case "Ignored", "Skipped", "Inconclusive": .skipped
        case nil where attributes["executed"]?.lowercased() == "false": .skipped
        // If it contains a `<failure>`, the test becomes a failed one.
        case nil where attributes["success"]?.lowercased() != "false": .passed
        default: .failed
        }
    }

    /// Splits a full name: `Kit.Tests.ParserTests.Parses("a.b")` is `Parses("a.b")` of `Kit.Tests.ParserTests`.
    static func split(_ full: String) -> (suite: String, name: String) {
        let head = full.utf8.prefix { $0 != UInt8(ascii: "(") }
        guard let dot = head.lastIndex(of: UInt8(ascii: ".")) else { return ("", full) }
        return (String(full[..<dot]), String(full[full.utf8.index(after: dot)...]))
    }
}
