extension Finding {
    /// What begins the rule of a finding that says that a test is flaky; the test's full name follows.
    package static let flakyRule = "flaky: "

    /// The full name of the test that this finding calls flaky; nothing for every other finding.
    package var flakyTest: String? {
        guard category == .warning, rule.hasPrefix(Self.flakyRule) else { return nil }
        return String(rule.dropFirst(Self.flakyRule.count))
    }

    /// The rule of a finding that says that tests are red although none of them failed: a limit, or the command's status.
    package static let failedTestCommandRule = "martlet.test"

    /// The rule of a warning that a configuration tested nothing, although its recipe does not say `test: none`.
    package static let nothingTestedRule = "martlet.untested"

    /// Whether it is about a test: then the test is what tells it from others, wherever and however it fails.
    package var isOfTest: Bool {
        category == .testFailure && rule != Self.failedTestCommandRule || flakyTest != nil
    }

    /// A warning of a test that failed and passed on one commit; nothing for every other outcome. A pass on retry is no
    /// success: something in the test or in what it tests depends on luck.
    /// - Parameter how: In words; nothing: what reports say.
    package init?(flaky result: TestResult, how: String = "it failed, and passed when it was run again") {
        guard result.outcome == .flaky else { return nil }
        let said = result.message.map { ": " + $0 } ?? ""
        self.init(
            category: .warning, message: "\(result.fullName) is flaky: \(how)\(said)",
            rule: Self.flakyRule + result.fullName, path: result.path, line: result.line)
    }
}
