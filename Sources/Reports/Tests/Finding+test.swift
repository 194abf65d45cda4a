package import Model

extension Finding {
    /// Creates the finding of a failed or crashed test; `nil` for other outcomes. Its rule is the test's full name, so that one test is one issue
    /// regardless of its failure.
    package init?(failureOf result: TestResult) {
        guard result.outcome.isFailure else { return nil }
        self.init(
            category: .testFailure,
            message: result.message ?? (result.outcome == .crashed ? "crashed" : "failed"),
            rule: result.fullName, path: result.path, line: result.line)
    }
}
