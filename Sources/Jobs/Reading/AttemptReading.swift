import Basics
import Issues
package import JobProtocol
import Model
package import Reports
package import Storage

/// The results of the steps of an attempt, read one after the other.
package struct AttemptReading: Sendable {
    var findings: [Finding] = []
    /// The kind of step that found each of `findings`, in the same order. Findings that are not attributed yet are missing at the end.
    private var finders: [JobStep] = []
    /// The output and the compiled files of all build steps together; `nil` before one ran.
    private var build: (compiled: CompiledFiles, findings: [Finding])?
    var tests: [TestResult] = []
    /// The lines of `swift test list`.
    var listed: [String] = []
    var notes: [String] = []
    /// The coverage of all steps together.
    var coverage: Coverage?
    var verdict: Verdict = .succeeded
    var reason: String?
    var analyzers: [String] = []
    /// The number of findings of the steps that analyze. The findings of a sanitizer do not count.
    var analyzed = 0
    /// The analyzers whose output had neither findings nor a statement that all is well, with the number of its lines.
    var notUnderstood: [(analyzer: String, lines: Int)] = []
    /// The usual analyses that could not run, each with the program that this machine lacks. They do not affect the verdict.
    var missingAnalyzers: [(step: String, program: MissingProgram)] = []
    /// Whether an analyzer found no files of its kind.
    var hadNothingToAnalyze = false
    /// The number of test steps that ran, and the number of those that left no report.
    var testSteps = (all: 0, silent: 0)
    /// The reason why a test step had no test to run.
    var noTestsReason: String?
    /// The patterns for test reports that the recipe names, of the test steps that ran.
    var askedReports: [String] = []
    let plan: JobPlanner.Plan
    let ends: StepEnds

    init(plan: JobPlanner.Plan, ends: StepEnds) {
        self.plan = plan
        self.ends = ends
    }

    mutating func add(
        step: JobDescription.Step, kind: JobStep, end: CommandEnd, console: ConsoleContent, reports: StepReports,
        hint: String?, context: AttemptProcessor.Context
    ) {
        defer { attribute(to: kind) }
        if let program = console.missingProgram(step, end) {
            return addMissing(MissingProgram(name: program, path: context.path), step: step, kind: kind)
        }
        if !isInterrupted(step), let hint { notes.append(hint) }
        for part in reports.contents.compactMap(\.coverage) { coverage = (coverage ?? Coverage(files: [])) + part }
        switch kind {
        case .analyzing: addAnalysis(step: step, end: end, console: console, reports: reports)
        case .building where step.name == JobStep.resolve:
            if !isInterrupted(step) { addResolution(end: end, console: console, hint: hint) }
            addUnread(console.problems, of: step)
        case .building: addBuild(step: step, end: end, console: console, reports: reports)
        case .testing where step.name == JobStep.list:
            listed = console.listed
            addUnread(console.problems, of: step)
        case .testing: addTests(step: step, end: end, console: console, reports: reports, context: context)
        case .archiving where !end.isSuccess: worsen(to: .buildErrors, "archiving failed: \(end.description)")
        case .archiving, .checkout, .processing: break
        }
        tell(leftOut: reports.leftOut, of: step, kind)
    }

    /// Warns about reports that exist and could not be read.
    private mutating func tell(leftOut: [String], of step: JobDescription.Step, _ kind: JobStep) {
        guard !leftOut.isEmpty else { return }
        let category: Finding.Category = kind == .analyzing ? .analyzerWarning : .warning
        findings += leftOut.map {
            Finding(category: category, message: "\(step.name): the report \($0)", rule: Finding.Rule.lostReport)
        }
        worsen(
            to: kind == .analyzing ? .analyzerWarnings : .warnings,
            "\(leftOut.count.counting("report file")) of \(step.name) could not be read: \(leftOut[0])")
    }

    /// Attributes the findings since the last call to a step of this kind.
    mutating func attribute(to kind: JobStep) {
        finders += repeatElement(kind, count: findings.count - finders.count)
    }

    mutating func worsen(to verdict: Verdict, _ reason: String?) {
        guard verdict > self.verdict else { return }
        self.verdict = verdict
        self.reason = reason ?? self.reason
    }

    /// Worsens the verdict by the findings of a command that succeeded. A warning, or a failure outside of a test, is never green.
    private mutating func worsen(by found: [Finding]) {
        if found.contains(where: { $0.category == .warning }) { worsen(to: .warnings, nil) }
        if found.contains(where: { $0.category == .analyzerWarning }) { worsen(to: .analyzerWarnings, nil) }
        if let failure = found.first(where: { $0.category == .testFailure }) {
            worsen(to: .testFailures, "failed outside of any test: \(failure.message.prefix { !$0.isNewline })")
        }
    }

    /// Adds a failed resolution of the dependencies. SwiftPM's message about a dependency that it cannot get names no line of a file.
    private mutating func addResolution(end: CommandEnd, console: ConsoleContent, hint: String?) {
        guard !end.isSuccess else { return }
        let reason = "resolving the dependencies failed: \(end.limit ?? end.description)"
        let said = console.findings.last { $0.category == .error }?.message ?? hint
        findings.append(
            Finding(
                category: .error, message: said.map { "\(reason): \($0)" } ?? reason + "; see the log",
                rule: Finding.Rule.failedResolution))
        worsen(to: .buildErrors, reason)
    }

    private mutating func addBuild(
        step: JobDescription.Step, end: CommandEnd, console: ConsoleContent, reports: StepReports
    ) {
        // A compiler's report repeats what its console printed.
        let printed = Set(console.findings)
        var found = console.findings + reports.findings.filter { !printed.contains($0) }
        notes += reports.notes
        let failed = reports.tests.compactMap(Finding.init(failureOf:))
        if !failed.isEmpty {
            findings += failed
            worsen(
                to: .testFailures,
                "\(failed.count) of \(reports.tests.count.counting("test")) failed in \(Finding.words(forStep: step.name))"
            )
        }
        if end.isSuccess {
            // The command succeeded, so a message that a plugin or a script called an error was not an error.
            for index in found.indices where found[index].category == .error { found[index].category = .warning }
            worsen(by: found)
        } else {
            if !isInterrupted(step), !found.contains(where: { $0.category == .error }) {
                found.append(
                    Finding(
                        category: .error,
                        message: Finding.beginning(ofFailedStep: step.name) + "\(end.description); see the log",
                        rule: Finding.Rule.failedBuild))
            }
            worsen(to: .buildErrors, end.limit ?? Finding.beginning(ofFailedStep: step.name) + end.description)
        }
        var all = build ?? (CompiledFiles(), [])
        all.compiled.formUnion(console.compiled)
        all.findings += found
        build = all
        findings += found
        addUnread(reports.problems + console.problems, of: step)
    }

    /// Adds at least a warning for a part of a step that could not be read: it may have contained a failure.
    private mutating func addUnread(_ problems: [String], of step: JobDescription.Step) {
        for problem in problems {
            findings.append(
                Finding(category: .warning, message: "\(step.name): \(problem)", rule: Finding.Rule.lostReport))
            worsen(to: .warnings, nil)
        }
    }

    /// Whether a cancellation request ended the job in this step, so that the step's end is no verdict on the code.
    func isInterrupted(_ step: JobDescription.Step) -> Bool {
        guard let index = ends.interrupted, plan.steps.indices.contains(index) else { return false }
        return plan.steps[index].name == step.name && plan.steps[index].step == step.step
    }

    /// Adds the earlier warnings of files that were not compiled again, and stores the warnings of now. Called after the last step that builds.
    /// - Throws: `FileError` if the warnings cannot be stored.
    mutating func endBuild(context: AttemptProcessor.Context, warnings: WarningCache?) throws {
        guard let build, let warnings else { return }
        let all = warnings.combine(printed: build.findings, compiled: build.compiled, digest: context.digest)
        let remembered = all.dropFirst(build.findings.count)
        if !remembered.isEmpty { worsen(to: .warnings, nil) }
        findings += remembered
        attribute(to: .building)
        try warnings.store(all, digest: context.digest)
    }

    private mutating func addTests(
        step: JobDescription.Step, end: CommandEnd, console: ConsoleContent, reports: StepReports,
        context: AttemptProcessor.Context
    ) {
        askedReports += reports.askedForTests
        var end = end
        end.crash = console.crash
        let consoles = agreed(
            swift: [console.xctest, console.swiftTesting], others: console.others.map(\.tests), with: end, reports, step
        )
        var merged = TestMerge.merge(reports: reports.contents, consoles: consoles, end: end)
        let isInterrupted = isInterrupted(step)
        // A test that was running at the cancellation was ended with the rest of the job.
        if isInterrupted { merged.removeAll { $0.outcome == .crashed } }
        var problems = reports.problems + console.problems + console.others.flatMap(\.problems)
        if JobCommands.runsAllListed(step), !isInterrupted, !merged.isEmpty {
            let unrun = UnrunTests(listed: listed, tests: merged, isSuccess: end.isSuccess && problems.isEmpty)
            merged += unrun.results
            problems += unrun.problem.map { [$0] } ?? []
        }
        if merged.isEmpty, end.isSuccess,
            let reason = noTests(step, console: console, reports: reports, isSound: problems.isEmpty)
        {
            noTestsReason = reason
            return
        }
        let missing = problems.isEmpty && merged.isEmpty ? reports.missingTests.map { [$0] } ?? [] : []
        let hasReport = reports.hasTests || !merged.isEmpty || !console.others.isEmpty
        let isOnly = plan.steps.count { $0.step == step.step && $0.name != JobStep.list } <= 1
        let judged = TestVerdict(
            end: end, tests: merged, problems: problems + missing, hasReport: hasReport,
            previousTests: isOnly ? context.previousTests : nil)
        notes += judged.notes + (reports.contents + console.others).flatMap(\.notes)
        tests += merged
        let printed = console.findings.filter { !end.isSuccess || !console.unsupported.contains($0) }
        findings += printed
        if !printed.isEmpty { worsen(to: .analyzerWarnings, nil) }
        var reported = reports.findings
        if end.isSuccess {
            for index in reported.indices where reported[index].category == .error {
                reported[index].category = .warning
            }
        }
        findings += reported + merged.compactMap(Finding.init(failureOf:))
        // If the step exceeded its limit, the unfinished test may be missing from the tests that ended.
        let isCutShort = end.limit != nil && !merged.contains { $0.outcome == .crashed }
        if judged.verdict > .succeeded, !isInterrupted, isCutShort || !merged.contains(where: \.outcome.isFailure) {
            let reason = (isCutShort ? end.limit : nil) ?? judged.reason
            findings.append(
                Finding(
                    category: .testFailure, message: reason ?? "the test command failed",
                    rule: Finding.Rule.failedTestCommand))
        }
        if judged.verdict > .succeeded { worsen(to: judged.verdict, judged.reason) }
        let flaky = merged.compactMap { Finding(flaky: $0) }
        findings += flaky
        if !flaky.isEmpty { worsen(to: .warnings, FlakyTests.sentence(flaky.compactMap(\.flakyTest))) }
        worsen(by: reported)
        testSteps.all += 1
        if !hasReport { testSteps.silent += 1 }
    }

    private static func described(_ coverage: Coverage) -> String {
        "coverage: \(coverage.lines.text) of lines (\(coverage.lines.covered) of \(coverage.lines.total)) in "
            + coverage.files.count.counting("file")
    }

    /// The most files whose digests are cached while an attempt's findings are named.
    private static let maximumContents = 10_000

    /// The lines with findings, by path. The text of these lines is part of the fingerprints.
    package var places: [String: Set<Int>] {
        findings.reduce(into: [:]) { places, finding in
            if let path = finding.path, let line = finding.line { places[path, default: []].insert(line) }
        }
    }

    /// Returns the results of the attempt.
    /// - Parameter lineText: Returns a line of a file of the commit. Line numbers start at 1; `nil` if there is no such line.
    package func outcome(lineText: (_ path: String, _ line: Int) -> String?) -> AttemptResults {
        var (verdict, reason, findings) = (verdict, reason, findings)
        switch ends.outcome {
        case .canceled: (verdict, reason) = (.canceled, ends.reason ?? "canceled")
        case .interrupted: (verdict, reason) = (.internalError, JobRunner.interruptedReason)
        case .faulty, nil:
            (verdict, reason) = (.internalError, ends.reason ?? "the job ended without a result")
        case .failed where verdict <= .analyzerWarnings:
            if let limit = ends.limit {
                // A limit of the whole job, such as the log's or the artifacts' size, is exceeded by the code's doing.
                (verdict, reason) = (.buildErrors, limit)
                findings.append(Finding(category: .error, message: limit, rule: Finding.Rule.limit))
            } else {
                (verdict, reason) = (.internalError, ends.reason ?? "the job failed")
            }
        case .completed, .failed: reason = ends.limit ?? reason
        }
        var counts = Counts()
        var stored = findings.enumerated().map { place, finding in
            StoredFinding(
                fingerprint: "", content: "", finding: finding, step: place < finders.count ? finders[place] : nil)
        }
        // Most findings without a line in the commit have the same content.
        var contents: [String: String] = [:]
        Fingerprinter.forEachKeys(of: findings, lineText: lineText) { place, keys in
            let content = contents[keys.content] ?? Digest.sha256(of: Array(keys.content.utf8))
            if contents.count < Self.maximumContents { contents[keys.content] = content }
            stored[place].fingerprint = Digest.sha256(of: Array(keys.place.utf8))
            stored[place].content = content
        }
        for finding in findings { counts.add(finding) }
        counts.tests = tests.count { $0.outcome != .skipped }
        return AttemptResults(
            findings: stored, tests: tests, coverage: coverage, counts: counts, analysis: analysis,
            tested: plan.notTested ?? tested ?? "not run",
            notes: notes + unableAnalysisNotes + (coverage.map { [Self.described($0)] } ?? []), verdict: verdict,
            reason: reason)
    }
}

/// The ends of the steps, and of the attempt as a whole.
package struct StepEnds {
    package var steps: [Int: CommandEnd] = [:]
    package var outcome: StatusEvent.Outcome?
    package var reason: String?
    package var limit: String?
    /// The step in which the job was ended by a user, a newer commit or the machine's stop; `nil` if it was not. That step's result is no
    /// statement about the code.
    package var interrupted: Int?

    package init(_ events: [StatusEvent]) {
        for event in events {
            switch event {
            case .started: break
            case .ended(let step, _, let exit, let signal, let limit, _):
                steps[step] = CommandEnd(exit: exit.map(Int.init), signal: signal.map(Int.init), limit: limit)
            case .finished(_, let result, let reason, let limit, let step):
                (outcome, self.reason, self.limit) = (result, reason, limit)
                interrupted = result == .canceled || result == .interrupted ? step : nil
            }
        }
    }
}
