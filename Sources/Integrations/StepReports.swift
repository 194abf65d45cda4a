import JobProtocol
import Model
import Reports

/// The report files that a step left, and what of those that were asked for it did not leave.
struct StepReports {
    let contents: [ReportContent]
    /// Matching files that could not be copied, with the reasons.
    let leftOut: [String]
    /// The patterns of the recipe that a command must leave a file for; those of usual commands are what may come.
    private let asked: [String]
    /// Those of them that no file matches.
    private let unmatched: [String]
    /// Where the step ran; `.` is the repository's root.
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

    /// What the files say of themselves, and what is not there.
    var problems: [String] {
        // The author of the pattern may have meant it to begin there.
        let place =
            workingDirectory == "." ? "" : " (from the repository's root; the step ran in \(workingDirectory))"
        let missing =
            unmatched.isEmpty ? [] : ["no file matches report: \(unmatched.joined(separator: ", "))\(place)"]
        return contents.flatMap(\.problems) + missing
    }

    /// The patterns that the recipe names for reports of tests: none of them if all that is there is coverage.
    var askedForTests: [String] {
        !contents.isEmpty && contents.allSatisfy { $0.subject == .coverage } ? [] : asked
    }

    /// Whether one of them is a report of tests, even if it could not be read.
    var hasTests: Bool { contents.contains { $0.subject == .tests || $0.subject == nil } }

    /// Why these files cannot judge a test step whose console names no test; `nil` if they can, and if there are no files.
    ///
    /// Any output has lines that look like a compiler's or a sanitizer's, so a file of such lines is no report of tests. A recipe that names a
    /// coverage file has asked for no more.
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
