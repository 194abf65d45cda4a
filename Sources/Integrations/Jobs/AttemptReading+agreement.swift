import JobProtocol
import Model
import Reports

extension AttemptReading {
    /// Returns the tests of the consoles without the failures that cannot be real, because the command exited with 0. Such a failure was printed by a
    /// test, as the tests of reporters and of test frameworks do.
    ///
    /// - If the step's report states that all tests passed, no failure on a Swift console is real. The consoles of other tools are not affected: the
    ///   reader returns only those whose tests are in no report (`OtherConsoles`).
    /// - If the exit status is the tool's own, no failed test is real. A test that started and never ended is real: its process exited with 0 in the
    ///   middle of it (`exit(0)`, `syscall.Exit(0)`).
    func agreed(
        swift: [[TestResult]], others: [[TestResult]], with end: CommandEnd, _ reports: StepReports,
        _ step: JobDescription.Step
    ) -> [[TestResult]] {
        guard end.isSuccess else { return swift + others }
        let reported = reports.tests
        let isReported =
            !reported.isEmpty && !reported.contains(where: \.outcome.isFailure) && reports.problems.isEmpty
        let isOwn = JobCommands.isOwn(step)
        func believed(_ consoles: [[TestResult]], isReported: Bool) -> [[TestResult]] {
            guard isReported || isOwn else { return consoles }
            return consoles.map { tests in
                tests.filter { !$0.outcome.isFailure || !isReported && $0.outcome == .crashed }
            }
        }
        return believed(swift, isReported: isReported) + believed(others, isReported: false)
    }
}
