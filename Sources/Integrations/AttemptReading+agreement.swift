import JobProtocol
import Model
import Reports

extension AttemptReading {
    /// The consoles' tests without failures that cannot be real, because the command ended with 0. A test then printed them, as those of reporters
    /// and test frameworks do.
    ///
    /// - If the step's report says that all passed, no failure of a console of Swift's is real. Of other tools' consoles the reader then told only
    ///   those of which no report has the tests (`OtherConsoles`): the report says nothing of them.
    /// - If the exit status is the tool's own, no failed test is real. A test that started and never ended is: its process ended with 0 in the
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
