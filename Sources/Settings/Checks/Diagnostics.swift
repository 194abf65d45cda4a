/// The diagnostics of one file while it is being read.
struct Diagnostics {
    /// The most diagnostics kept for one file. Beyond that, more of them do not help.
    static let limit = 100

    let file: String
    private(set) var list: [Diagnostic] = []
    private(set) var hasErrors = false

    init(file: String) { self.file = file }

    mutating func error(_ message: String, at position: Position) { add(message, at: position, severity: .error) }

    mutating func warning(_ message: String, at position: Position) { add(message, at: position, severity: .warning) }

    private mutating func add(_ message: String, at position: Position, severity: Diagnostic.Severity) {
        if severity == .error { hasErrors = true }
        guard list.count < Self.limit else { return }
        list.append(
            Diagnostic(
                file: file, line: position.line, column: position.column, severity: severity,
                message: Printable.oneLine(message)))
    }

    /// Returns the result of reading the file. It contains the value only if there was no error.
    func reading<Value: Sendable>(of value: Value?) -> Reading<Value> {
        let sorted = list.enumerated().sorted {
            ($0.element.line, $0.element.column, $0.offset) < ($1.element.line, $1.element.column, $1.offset)
        }
        return Reading(value: hasErrors ? nil : value, diagnostics: sorted.map(\.element))
    }
}
