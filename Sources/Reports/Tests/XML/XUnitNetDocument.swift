import Model

/// xUnit.net's result, versions 2 and 3: `assemblies`, `collection`, `test`.
final class XUnitNetDocument: XMLTestCases, XMLTestsHandler {
    private var assembly = ""
    /// The class in version 1, which can have failures of its own.
    private var type: String?

    func begin(_ element: String, _ attributes: [String: String], depth: Int) throws(XMLText.Refusal) {
        clearText()
        switch element {
        case "assembly":
            assembly = attributes["name"].map { Self.fileName($0) } ?? ""
            takeCounts(attributes, "failed", "errors")
        case "class": type = attributes["name"]
        case "failure" where !isOpen && type != nil:
            try open(TestResult(suite: XMLTests.name(type), name: "(suite)", outcome: .failed))
        case "test":
            let type = attributes["type"] ?? ""
            var name = attributes["name"] ?? attributes["method"] ?? "(unnamed)"
            // The default display name repeats the type.
            if !type.isEmpty, name.hasPrefix(type + ".") { name = String(name.dropFirst(type.count + 1)) }
            try open(
                TestResult(
                    suite: XMLTests.name(type.isEmpty ? assembly : type), name: XMLTests.name(name),
                    outcome: Self.outcome(attributes["result"]),
                    duration: XMLTests.duration(seconds: attributes["time"])))
        case "error":
            // The failure is outside of any test, such as in a fixture's or a collection's clean-up.
            let name = [attributes["type"], attributes["name"]].compactMap { $0 }.joined(separator: " ")
            try open(
                TestResult(
                    suite: XMLTests.name(assembly), name: XMLTests.name("(\(name.isEmpty ? "error" : name))"),
                    outcome: .failed))
        default: break
        }
    }

    func end(_ element: String, depth: Int) {
        switch element {
        case "message", "reason": takeMessage()
        case "stack-trace": takeStack()
        case "test", "error": close()
        case "failure" where openName == "(suite)": close()
        case "class": type = nil
        default: break
        }
        clearText()
    }

    private static func outcome(_ result: String?) -> TestResult.Outcome {
        switch result {
        case "Pass": .passed
        case "Skip", "NotRun": .skipped
        default: .failed
        }
    }

    private static func fileName(_ path: String) -> String {
        XMLTests.name(path.split { $0 == "/" || $0 == "\\" }.last.map(String.init) ?? path)
    }
}
