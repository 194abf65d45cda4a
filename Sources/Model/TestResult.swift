/// One test's result in one configuration.
package struct TestResult: Hashable, Sendable, Codable {
    /// How the test ended; the words are the interface's.
    package enum Outcome: String, Sendable, Codable, CaseIterable {
        case passed, failed, skipped, crashed, flaky, knownIssue

        /// Whether it makes an integration red.
        package var isFailure: Bool { self == .failed || self == .crashed }
    }

    /// The class, suite or file: `KitTests.ParserTests`. Empty for a test without one.
    package var suite: String
    package var name: String
    package var outcome: Outcome
    /// Nothing when the tool does not say.
    package var duration: Duration?
    /// The failures' texts, or why it was skipped; with a crash, the signal.
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

    /// What identifies the test through time: suite and name.
    package var fullName: String { suite.isEmpty ? name : suite + "/" + name }
}
