import JobProtocol
import Model
import Reports

/// The report files that a step left, and the requested ones that it did not leave.
struct StepReports {
    let contents: [ReportContent]
    /// The matching files that could not be copied, with the reasons.
    let leftOut: [String]
    /// The patterns of the recipe for which a command must leave a file. The patterns of default commands are optional, so they are not included.
    private let asked: [String]
    /// The patterns in `asked` that no file matches.
    private let unmatched: [String]
    /// The directory in which the step ran; `.` is the repository's root.
    private let workingDirectory: String

    init(
        _ contents: [ReportContent], paths: [String], leftOut: [String] = [], of step: JobDescription.Step,
        kind: JobStep,
        context: AttemptProcessor.Context
    ) {
        self.contents = contents
        self.leftOut = leftOut
        workingDirectory = step.workingDirectory
        asked = kind == .testing ? context.askedReports[step.name] ?? [] : kind == .analyzing ? step.report : []
        unmatched = asked.filter { text in
            guard let pattern = PathPattern(text) else { return true }
            return !paths.contains { pattern.matches($0.utf8) }
        }
    }

    var isEmpty: Bool { contents.isEmpty }
    var findings: [Finding] { contents.flatMap(\.findings) }
    var tests: [TestResult] { contents.flatMap(\.tests) }
    var notes: [String] { contents.flatMap(\.notes) }

    /// The problems of the files, and a problem for missing ones.
    var problems: [String] {
        // The author of the pattern may have meant it to be relative to this directory.
        let place =
            workingDirectory == "." ? "" : " (from the repository's root; the step ran in \(workingDirectory))"
        let missing =
            unmatched.isEmpty ? [] : ["no file matches report: \(unmatched.joined(separator: ", "))\(place)"]
        return contents.flatMap(\.problems) + missing
    }

    /// The patterns that the recipe names for test reports. Empty if all files are coverage reports.
    var askedForTests: [String] {
        !contents.isEmpty && contents.allSatisfy { $0.subject == .coverage } ? [] : asked
    }

    /// Whether one of the files is a test report, even if it could not be read.
    var hasTests: Bool { contents.contains { $0.subject == .tests || $0.subject == nil } }

    /// The reason why these files cannot judge a test step whose output names no test. `nil` if they can, and if there are no files.
    ///
    /// Any output contains lines that look like a compiler's or a sanitizer's, so a file of such lines is not a test report. A recipe that names a
    /// coverage file has not asked for more.
    var missingTests: String? {
        guard !contents.isEmpty, !hasTests else { return nil }
        if asked.isEmpty {
            return contents.contains { $0.subject == .lines } ? "the report file holds no tests" : nil
        }
        let isCoverage =
            contents.allSatisfy { $0.subject == .coverage } && !asked.contains { $0.contains("*") || $0.contains("?") }
        return isCoverage ? nil : "no report of tests among the files of report: \(asked.joined(separator: ", "))"
    }
}
