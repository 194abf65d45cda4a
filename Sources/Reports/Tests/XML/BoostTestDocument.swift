import Model

/// Boost.Test's XML log (`--log_format=XML`), in which a case without an error has passed.
final class BoostTestDocument: XMLTestCases, XMLTestsHandler {
    private var suites: [String] = []
    private var failure: (path: String?, line: Int?)?
    private var hasPlace = false

    private static let failures: Set<String> = ["Error", "FatalError", "Exception"]

    func begin(_ element: String, _ attributes: [String: String], depth: Int) throws(XMLText.Refusal) {
        switch element {
        case "TestSuite":
            clearText()
            suites.append(attributes["name"] ?? "")
        case "TestCase":
            clearText()
            hasPlace = false
            let isSkipped = attributes["skipped"] == "yes"
            try open(
                TestResult(
                    suite: suite, name: XMLTests.name(attributes["name"] ?? "(unnamed)"),
                    outcome: isSkipped ? .skipped : .passed, message: isSkipped ? attributes["reason"] : nil))
        case _ where Self.failures.contains(element):
            clearText()
            if !isOpen {
                // The failure is outside of any case, in a suite's fixture.
                hasPlace = false
                try open(TestResult(suite: suite, name: "(suite)", outcome: .failed))
            }
            fail()
            failure = (attributes["file"], attributes["line"].flatMap { TAPLine.number(Substring($0)) })
        // An exception's text is interrupted by the element of the last checkpoint.
        case "LastCheckpoint": break
        default: clearText()
        }
    }

    private var suite: String { XMLTests.name(suites.joined(separator: "/")) }

    func end(_ element: String, depth: Int) {
        switch element {
        case _ where Self.failures.contains(element):
            takeMessage()
            if !hasPlace, let failure, let path = failure.path, !path.isEmpty {
                hasPlace = true
                places[tests.count] = (root.shown(path), failure.line)
            }
            if !inCase { end() }
        case "TestingTime":
            if isOpen, let micro = Double(text), micro >= 0, micro < 1e15 { durations[tests.count] = micro }
        case "TestCase": end()
        case "TestSuite": _ = suites.popLast()
        case "LastCheckpoint": return
        default: break
        }
        clearText()
    }

    private var places: [Int: (path: String, line: Int?)] = [:]
    private var durations: [Int: Double] = [:]
    /// Whether the open result is a case and not a suite's own failure.
    private var inCase: Bool { isOpen && openName != "(suite)" }

    private func end() {
        guard isOpen else { return }
        close()
        let index = tests.count - 1
        edit(index) { result in
            if let place = places[index] { (result.path, result.line) = place }
            if let micro = durations[index] { result.duration = .microseconds(micro) }
        }
    }
}
