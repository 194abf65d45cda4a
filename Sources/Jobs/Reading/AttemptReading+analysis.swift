import JobProtocol
import Model
import Reports

/// The results of the steps that analyze.
extension AttemptReading {
    /// Adds the findings of an analysis, or a finding that states that it has no result.
    mutating func addAnalysis(
        step: JobDescription.Step, end: CommandEnd, console: ConsoleContent, reports: StepReports
    ) {
        if JobPlanner.saysNoCTargets(step, console.listed), end.isSuccess, reports.isEmpty {
            hadNothingToAnalyze = true
            return
        }
        analyzers.append(step.name)
        // Some linters report their findings as failed tests.
        let failed = reports.tests.compactMap(Finding.init(failureOf:))
        var found = (reports.findings + failed + console.findings).map { finding in
            var finding = finding
            finding.category = .analyzerWarning
            return finding
        }
        notes += reports.notes
        for problem in reports.problems + console.problems {
            found.append(
                Finding(category: .analyzerWarning, message: "\(step.name): \(problem)", rule: Finding.Rule.lostReport))
        }
        // Linters exit with a status other than 0 when they find something. Such a status without a finding is a failure, which must not look like a
        // clean analysis. An interrupted analysis must not look complete either, because all of its findings may be muted.
        let isCutShort = end.limit != nil || end.signal != nil
        if !isInterrupted(step), isCutShort || !end.isSuccess && found.isEmpty {
            let what = isCutShort ? "did not finish" : "failed"
            found.append(
                Finding(
                    category: .analyzerWarning, message: "\(step.name) \(what): \(end.description); see the log",
                    rule: Finding.Rule.failedAnalysis))
        }
        findings += found
        analyzed += found.count
        if found.isEmpty, end.isSuccess, console.notUnderstood > 0 { addNotUnderstood(console.notUnderstood, step) }
        if !found.isEmpty { worsen(to: .analyzerWarnings, nil) }
    }

    /// Adds a finding for output that was not understood. Output that may hold findings in an unknown form is never clean.
    private mutating func addNotUnderstood(_ lines: Int, _ step: JobDescription.Step) {
        notUnderstood.append((step.name, lines))
        findings.append(
            Finding(
                category: .analyzerWarning,
                message:
                    "\(step.name) could not be read: \(lines.counting("line")) of its output are neither findings nor say that "
                    + "all is well; see the log, or have it write a report and name that by `report:`",
                rule: Finding.Rule.notUnderstood))
        worsen(to: .analyzerWarnings, nil)
    }

    /// Records that this machine lacks a program that the service's own command needs. For an analysis that is no verdict on the code; any other step
    /// makes the verdict an internal error.
    mutating func addMissing(_ program: MissingProgram, step: JobDescription.Step, kind: JobStep) {
        guard kind != .analyzing else {
            return missingAnalyzers.append((step.name, program))
        }
        worsen(to: .internalError, "the step \(step.name) could not run: \(program)")
    }

    /// A summary of the analysis, in words.
    var analysis: String {
        if let why = plan.notAnalyzed { return why }
        guard !analyzers.isEmpty else {
            if let missing = missingPrograms { return "no analyzer: install \(missing)" }
            return hadNothingToAnalyze ? JobPlanner.noAnalyzerApplies(to: .swiftPackage) : "not run"
        }
        let understood = analyzers.filter { name in !notUnderstood.contains { $0.analyzer == name } }
        var parts: [String] = []
        if !understood.isEmpty {
            let result = analyzed == 0 ? "clean" : analyzed.counting("finding")
            parts.append("\(result) (\(understood.joined(separator: ", ")))")
        }
        parts += notUnderstood.map { "not understood: \($0.lines.counting("line")) (\($0.analyzer))" }
        return parts.joined(separator: "; ")
    }

    /// The programs to install for the usual analyses that could not run; `nil` if all could.
    private var missingPrograms: String? {
        guard !missingAnalyzers.isEmpty else { return nil }
        var names: [String] = []
        for (_, program) in missingAnalyzers where !names.contains(program.brief) { names.append(program.brief) }
        return names.joined(separator: ", ")
    }

    /// The reasons why usual analyses could not run, and what to do about each.
    var unableAnalysisNotes: [String] {
        missingAnalyzers.map { "not analyzed by \($0.step): \($0.program)" }
    }
}

/// A program that a default command needs and that is not in the `PATH` of jobs. Its description states what to do.
struct MissingProgram: CustomStringConvertible {
    let name: String
    /// The `PATH` that was searched; `nil` if unknown.
    let path: String?

    /// The Debian package with the program; `nil` if unknown.
    private var package: String? { ProjectType.allCases.lazy.compactMap { $0.profile.packages[name] }.first }

    /// The name of what to install: the Debian package, or else the program.
    var brief: String { package ?? (name == "swift" ? "a Swift toolchain" : name) }

    var description: String {
        let place = path.map { " (PATH is \($0))" } ?? ""
        let install =
            package.map { "install it (Debian: apt-get install \($0))" }
            ?? (name == "swift" ? "install a Swift toolchain" : "install it")
        return "\(name) is not where jobs look for programs\(place); \(install), or have the service started with its "
            + "directory in PATH and, where that is outside /usr, listed in `sandbox: { read-only: [DIRECTORY] }` of the settings"
    }
}
