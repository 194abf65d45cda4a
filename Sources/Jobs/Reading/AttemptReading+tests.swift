import JobProtocol
import Model
import Reports

/// The consequences when no tests ran, or few.
extension AttemptReading {
    /// Returns why there was no test to run, if the list, the service's own command or the tool says so. `nil` otherwise.
    func noTests(
        _ step: JobDescription.Step, console: ConsoleContent, reports: StepReports, isSound: Bool
    ) -> String? {
        if let reason = console.noTests { return reason }
        if JobPlanner.saysNoTests(listed) { return "the package has no test target" }
        let reported = reports.contents.filter { $0.subject == .tests } + console.others
        return isSound && !reported.isEmpty && reported.allSatisfy(\.hasNoTests)
            ? "the test command found no test" : nil
    }

    /// A summary of the tests, in words; `nil` if no test step ran.
    var tested: String? {
        guard testSteps.all > 0 else { return noTestsReason.map { "skipped: no tests (\($0))" } }
        guard testSteps.silent < testSteps.all else {
            return "by exit status alone: the command writes no report"
        }
        let silent = testSteps.silent == 0 ? "" : "; \(testSteps.silent) of \(testSteps.all) steps by exit status alone"
        return "\(tests.count.counting("test")), \(tests.count(where: \.outcome.isFailure)) failing\(silent)"
    }

    /// Judges how many tests ran. Called after the last test step, or after all steps if none of them tests.
    mutating func endTests(context: AttemptProcessor.Context) {
        defer { attribute(to: .testing) }
        let isSkipped = testSteps.all == 0 && noTestsReason != nil
        if let filter = context.filterAlone, tests.isEmpty, isSkipped || testSteps.all > 0 {
            return addFailure("no test matches the filter \(filter)")
        }
        // A red attempt already has its reason, and a job that was ended early could not run all tests.
        guard ends.outcome == .completed, verdict < .testFailures else { return }
        let ran = tests.count { $0.outcome != .skipped }
        if ran == 0 { addNothingTested(context) } else { addFewerTests(ran, context) }
    }

    private mutating func addFailure(_ reason: String) {
        findings.append(Finding(category: .testFailure, message: reason, rule: Finding.Rule.failedTestCommand))
        worsen(to: .testFailures, reason)
    }

    /// Adds a finding if no test ran. It is a failure if there were tests before or if the recipe names a report for them; otherwise it is a warning.
    /// A command without a report counts as having tested something: only its exit status is known.
    private mutating func addNothingTested(_ context: AttemptProcessor.Context) {
        let isByStatusAlone = testSteps.silent > 0
        let what =
            tests.isEmpty ? "no test was reported" : "no test ran (skipped: \(tests.count))"
        if let lost = context.previousTests, lost > 0 {
            let why = testSteps.all == 0 ? whyUntested.map { ": \($0)" } ?? "" : ""
            let advice =
                isByStatusAlone
                ? "if its command still runs tests, name its report with `report:`"
                : "if that is right, write `test: none`"
            return addFailure("\(what), although the integration before had \(lost)\(why); \(advice)")
        }
        guard context.expectsTests else { return }
        if tests.isEmpty, !askedReports.isEmpty {
            return addFailure(
                "\(what), although the recipe names report: \(askedReports.joined(separator: ", ")); "
                    + "if that is right, write `test: none` in place of both")
        }
        guard !isByStatusAlone, let reason = whyUntested else { return }
        let own = ProjectTree.OwnCommand.sentence(context.ownCommands).map { "; \($0)" } ?? ""
        let message =
            "nothing was tested: \(reason)\(own); write `test:`, or `test: none` if there is nothing to test"
        findings.append(Finding(category: .warning, message: message, rule: Finding.Rule.nothingTested))
        worsen(to: .warnings, message)
    }

    /// The reason that no test ran, without advice; `nil` if a test step was planned and never started.
    private var whyUntested: String? {
        if testSteps.all == 0 { return noTestsReason ?? plan.whyUntested }
        return tests.isEmpty ? "the test command reported no test" : "no test ran (skipped: \(tests.count))"
    }

    /// The least number of tests whose loss is a warning: a smaller one is a usual change.
    private static let leastLoss = 20

    /// Warns if fewer than half of the earlier tests ran, and at least 20 fewer. A filter may have been left in, or a suite may no longer be found.
    private mutating func addFewerTests(_ ran: Int, _ context: AttemptProcessor.Context) {
        guard let before = context.previousTests, ran * 2 < before, before - ran >= Self.leastLoss else { return }
        let message = "only \(ran.counting("test")) ran; the integration before had \(before)"
        findings.append(Finding(category: .warning, message: message, rule: Finding.Rule.missingTests))
        worsen(to: .warnings, message)
    }
}

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
