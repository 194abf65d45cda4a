import JobProtocol
import Model
import Reports

extension AttemptReading {
    /// The consoles' tests without failures that cannot be real, because the command ended with 0. A test then printed them, as those of reporters
    /// and test frameworks do.
    ///
    /// - If the step's report says that all passed, no failure of the console is real.
    /// - If the exit status is the tool's own, no failed test is real. A test that started and never ended is: its process ended with 0 in the
    ///   middle of it (`exit(0)`, `syscall.Exit(0)`).
    func agreed(
        _ consoles: [[TestResult]], with end: CommandEnd, _ reports: StepReports, _ step: JobDescription.Step
    ) -> [[TestResult]] {
        guard end.isSuccess else { return consoles }
        let reported = reports.tests
        let isReported =
            !reported.isEmpty && !reported.contains(where: \.outcome.isFailure) && reports.problems.isEmpty
        guard isReported || JobCommands.isOwn(step) else { return consoles }
        return consoles.map { tests in
            tests.filter { !$0.outcome.isFailure || !isReported && $0.outcome == .crashed }
        }
    }
}
