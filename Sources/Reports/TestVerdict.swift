package import Model

/// What a test step came to. Never green when the command's end, a test or a report says otherwise.
package struct TestVerdict: Sendable, Hashable {
    /// `succeeded` or `testFailures`.
    package var verdict: Verdict
    /// Why it is not green, in a sentence; `nil` if it is.
    package var reason: String?
    /// Sentences that change no verdict.
    package var notes: [String]

    /// - Parameters:
    ///   - end: How the test command ended.
    ///   - tests: All of the step's tests, merged.
    ///   - problems: Those of the step's reports.
    ///   - hasReport: Whether any reader could have told tests; without one only the exit status counts.
    ///   - previousTests: How many tests the branch's integration before had; `nil` if unknown.
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
