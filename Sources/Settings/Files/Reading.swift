/// The result of reading a file: its value, unless there was an error, and all diagnostics.
package struct Reading<Value: Sendable>: Sendable {
    /// The value; `nil` if one of the diagnostics is an error.
    package var value: Value?
    /// The diagnostics in the order of the file, at most `Diagnostics.limit`.
    package var diagnostics: [Diagnostic]

    package init(value: Value?, diagnostics: [Diagnostic]) {
        self.value = value
        self.diagnostics = diagnostics
    }

    /// The errors without the warnings.
    package var errors: [Diagnostic] { diagnostics.filter { $0.severity == .error } }
}

extension Reading: Equatable where Value: Equatable {}
