package import Model

/// A reader of an analysis' output: diagnostics as compilers print them, and lines of linters.
package struct AnalyzerLines: Sendable {
    private var diagnostics: DiagnosticReader
    private var lints: LintLines
    /// The number of lines that could not be read; see `ConsoleContent.notUnderstood`.
    package private(set) var notUnderstood = 0
    /// The most lines that are counted as not understood. More of them change no result.
    private static let maximumNotUnderstood = 10_000

    package init(root: SourceRoot) {
        diagnostics = DiagnosticReader(root: root, category: .analyzer)
        lints = LintLines(root: root)
    }

    /// Reads a line.
    package mutating func consume(_ line: LogLine) {
        diagnostics.consume(line)
        let isFinding = lints.passOver(line) ?? lints.consume(line.text)
        guard !isFinding, notUnderstood < Self.maximumNotUnderstood, !AnalyzerProse.isProgress(line) else { return }
        let text = line.text
        if !AnalyzerProse.isKnown(text), DiagnosticLine(text) == nil { notUnderstood += 1 }
    }

    /// Returns the findings. A finding that both readers found is returned once.
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
