/// What a reader made of a file: its value, unless an error was found, and everything there is to say about it.
package struct Reading<Value: Sendable>: Sendable {
    /// Nothing when one of the diagnostics is an error.
    package var value: Value?
    /// In the order of the file, at most `Diagnostics.limit`.
    package var diagnostics: [Diagnostic]

    package init(value: Value?, diagnostics: [Diagnostic]) {
        self.value = value
        self.diagnostics = diagnostics
    }

    /// The errors alone, without the warnings.
    package var errors: [Diagnostic] { diagnostics.filter { $0.severity == .error } }
}

extension Reading: Equatable where Value: Equatable {}
