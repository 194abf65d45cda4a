/// The result of one test in one configuration.
package struct TestResult: Hashable, Sendable, Codable {
    /// How the test ended. The raw values are the words of the JSON interface.
    package enum Outcome: String, Sendable, Codable, CaseIterable {
        case passed, failed, skipped, crashed, flaky, knownIssue

        /// Whether it makes an integration fail.
        package var isFailure: Bool { self == .failed || self == .crashed }
    }

    /// The class, suite or file: `KitTests.ParserTests`. Empty if the test has none.
    package var suite: String
    package var name: String
    package var outcome: Outcome
    /// The duration; `nil` if the tool does not report it.
    package var duration: Duration?
    /// The failure messages, or why the test was skipped; for a crash, the signal.
    package var message: String?
    package var path: String?
    package var line: Int?

    package init(
        suite: String, name: String, outcome: Outcome, duration: Duration? = nil, message: String? = nil,
        path: String? = nil, line: Int? = nil
    ) {
        self.suite = suite
        self.name = name
        self.outcome = outcome
        self.duration = duration
        self.message = message
        self.path = path
        self.line = line
    }

    /// The suite and the name, which identify the test across integrations.
    package var fullName: String { suite.isEmpty ? name : suite + "/" + name }
}
