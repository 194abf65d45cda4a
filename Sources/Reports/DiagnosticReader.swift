package import Model

/// Reads compiler and linker diagnostics from a build's log.
package enum DiagnosticReader {
    package static func findings(
        in log: [UInt8], root: SourceRoot, category: DiagnosticCategory = .asPrinted
    ) -> [Finding] { [] }
}

/// What category a diagnostic gets.
package enum DiagnosticCategory: Sendable, Hashable {
    /// Errors are errors, warnings are warnings.
    case asPrinted
    /// Everything is an analyzer warning: the output of an analysis step.
    case analyzer
}
