package import Model

/// The verdict of a test step. It is never a success if the command's end, a test or a report shows a failure.
package struct TestVerdict: Sendable, Hashable {
    /// `succeeded` or `testFailures`.
    package var verdict: Verdict
    /// The reason, in a sentence; `nil` for a success.
    package var reason: String?
    /// Sentences that do not change the verdict.
    package var notes: [String]

    /// - Parameters:
    ///   - end: The end of the test command.
    ///   - tests: All of the step's tests, merged.
    ///   - problems: The problems of the step's reports.
    ///   - hasReport: Whether any reader could have found tests. If not, only the exit status counts.
    ///   - previousTests: The number of tests in the branch's previous integration; `nil` if unknown.
    package init(
        end: CommandEnd, tests: [TestResult], problems: [String] = [], hasReport: Bool = true, previousTests: Int? = nil
    ) {
        let failures = tests.count { $0.outcome.isFailure }
        notes = []
        if failures > 0 {
            verdict = .testFailures
            reason = "\(failures) of \(tests.count.counting("test")) failed"
        } else if !end.isSuccess {
            verdict = .testFailures
            reason = "failed without any failing test: the command ended with \(end.description)"
        } else if let problem = problems.first {
            verdict = .testFailures
            reason = problem
        } else {
            verdict = .succeeded
            reason = nil
        }
        if hasReport, tests.isEmpty {
            let before = previousTests.map { $0 > 0 ? ", before there were \($0)" : "" } ?? ""
            notes.append("0 tests\(before)")
        }
    }
}

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
