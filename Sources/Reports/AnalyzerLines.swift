package import Model

/// What an analysis prints: diagnostics as compilers print them, and lines of linters.
package struct AnalyzerLines: Sendable {
    private var diagnostics: DiagnosticReader
    private var lints: LintLines
    /// How many lines told nothing that could be read; see `ConsoleContent.notUnderstood`.
    package private(set) var notUnderstood = 0

    package init(root: SourceRoot) {
        diagnostics = DiagnosticReader(root: root, category: .analyzer)
        lints = LintLines(root: root)
    }

    /// Takes what a line tells.
    package mutating func take(_ line: LogLine) {
        diagnostics.take(line)
        let text = line.text
        if !lints.take(text), !Self.isKnown(text), DiagnosticLine(text) == nil { notUnderstood += 1 }
    }

    /// Whether a line says that all is well, what is being done, or nothing at all.
    private static func isKnown(_ text: String) -> Bool {
        let line = text.trimmingPrefix(while: \.isWhitespace)
        guard line.contains(where: { $0.isLetter || $0.isNumber }) else { return true }
        if progress.contains(where: line.hasPrefix), line.hasSuffix("...") || line.hasSuffix(")") { return true }
        return words.contains(where: line.hasPrefix) || parts.contains(where: line.has)
    }

    /// How lines begin that name what is looked at: cppcheck's `Checking a.c ...`, Cargo's `Checking kit v0.1.0 (/kit)`.
    private static let progress = ["Linting ", "Checking ", "Compiling "]

    /// How lines of tools begin that find nothing, or tell of their progress.
    private static let words = [
        "All checks passed", "Success: no issues found", "Your code has been rated at ", "Done linting! Found 0 ",
        "Finished `", "Finished dev", "Inspecting ", "No issues ", "0 issues", "0 errors",
        "No problems ", "No lint ", "Run started:", "Test results:", "Code scanned:", "Total lines ", "Run metrics:",
        "Total issues ", "Files skipped ", "Total potential issues ", "Undefined: 0", "Low: 0", "Medium: 0", "High: 0",
        "************* Module ", "+ ",
    ]
    private static let parts: [StaticString] = [
        "no offenses detected", "files already formatted", "file already formatted", "files would be left unchanged",
        "file would be left unchanged", " 0 problems", "no issues found", "No issues identified", "files checked",
        "% done",
    ]

    /// Without what both read.
    package func finish() -> [Finding] {
        let found = diagnostics.finish().map { finding in
            guard finding.rule.isEmpty, let (rule, message) = LintLine.trailingRule(finding.message) else {
                return finding
            }
            var finding = finding
            (finding.rule, finding.message) = (rule, message)
            return finding
        }
        let known = Set(found.map { [$0.path ?? "", "\($0.line ?? 0)", "\($0.column ?? 0)"] })
        return found
            + lints.finish().filter { !known.contains([$0.path ?? "", "\($0.line ?? 0)", "\($0.column ?? 0)"]) }
    }
}
