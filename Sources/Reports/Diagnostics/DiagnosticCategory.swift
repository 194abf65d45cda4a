/// How a diagnostic's category is chosen.
package enum DiagnosticCategory: Sendable, Hashable {
    /// Errors become errors, and warnings become warnings.
    case asPrinted
    /// All diagnostics become analyzer warnings: for the output of an analysis step.
    case analyzer
}
