/// An error or a warning in a file that users write, with its position.
package struct Diagnostic: Hashable, Sendable, Codable, CustomStringConvertible {
    /// The severity. An error makes the file's value unusable; a warning does not.
    package enum Severity: String, Hashable, Sendable, Codable { case error, warning }

    /// The path as it was passed to the reader.
    package var file: String
    /// The line, counted from 1.
    package var line: Int
    /// The column, counted from 1 in characters (Unicode scalars).
    package var column: Int
    package var severity: Severity
    /// What is wrong and what to write instead, in one line. It never contains a secret's value.
    package var message: String

    package init(file: String, line: Int, column: Int, severity: Severity = .error, message: String) {
        self.file = file
        self.line = line
        self.column = column
        self.severity = severity
        self.message = message
    }

    /// `file:line:column: error: message`, the format that editors and compilers' output readers recognize.
    package var description: String { "\(file):\(line):\(column): \(severity.rawValue): \(message)" }
}
