/// What category a diagnostic gets.
package enum DiagnosticCategory: Sendable, Hashable {
    /// Errors are errors, warnings are warnings.
    case asPrinted
    /// Everything is an analyzer warning: the output of an analysis step.
    case analyzer
}
