import JobProtocol
import Model
import Reports

extension AttemptReading {
    /// Whether the console's failed tests cannot be real: the command ended with 0, and its exit status is the tool's own or its report says that
    /// all passed. A test then printed them, as those of reporters and test frameworks do.
    func isContradicted(
        _ consoles: [[TestResult]], by end: CommandEnd, _ reports: StepReports, _ step: JobDescription.Step
    ) -> Bool {
        guard end.isSuccess, consoles.joined().contains(where: \.outcome.isFailure) else { return false }
        let reported = reports.tests
        return JobCommands.isOwn(step)
            || !reported.isEmpty && !reported.contains(where: \.outcome.isFailure) && reports.problems.isEmpty
    }
}
