extension Finding {
    /// The prefix of the rule of a finding about a flaky test. The test's full name follows.
    package static let flakyRule = "flaky: "

    /// The full name of the test that this finding calls flaky; `nil` for every other finding.
    package var flakyTest: String? {
        guard category == .warning, rule.hasPrefix(Self.flakyRule) else { return nil }
        return String(rule.dropFirst(Self.flakyRule.count))
    }

    /// The rule of a finding that tests failed without a failing test: a limit was reached, or the command failed.
    package static let failedTestCommandRule = "martlet.test"

    /// The rule of a warning that a configuration ran no test although its recipe does not state `test: none`.
    package static let nothingTestedRule = "martlet.untested"

    /// Whether the finding is about a test. Such findings are identified by the test, regardless of where and how it fails.
    package var isOfTest: Bool {
        category == .testFailure && rule != Self.failedTestCommandRule || flakyTest != nil
    }

    /// Creates a warning of a test that failed and passed on one commit. A pass on retry is not a success, because the test or the tested code
    /// depends on chance.
    /// - Parameter how: A description of what happened.
    /// - Returns: `nil` if the test's outcome is not `flaky`.
    package init?(flaky result: TestResult, how: String = "it failed, and passed when it was run again") {
        guard result.outcome == .flaky else { return nil }
        let said = result.message.map { ": " + $0 } ?? ""
        self.init(
            category: .warning, message: "\(result.fullName) is flaky: \(how)\(said)",
            rule: Self.flakyRule + result.fullName, path: result.path, line: result.line)
    }
}
