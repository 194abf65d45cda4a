/// One thing wrong in a file that people write, with its place.
package struct Diagnostic: Hashable, Sendable, Codable, CustomStringConvertible {
    /// An error makes the file's value unusable; a warning does not.
    package enum Severity: String, Hashable, Sendable, Codable { case error, warning }

    /// The path as the reader was given it.
    package var file: String
    /// Counts from 1.
    package var line: Int
    /// Counts characters (Unicode scalars) from 1.
    package var column: Int
    package var severity: Severity
    /// What is wrong and what to write instead; one line, never a secret's value.
    package var message: String

    package init(file: String, line: Int, column: Int, severity: Severity = .error, message: String) {
        self.file = file
        self.line = line
        self.column = column
        self.severity = severity
        self.message = message
    }

    /// `file:line:column: error: message`, the form that editors and compilers' readers know.
    package var description: String { "\(file):\(line):\(column): \(severity.rawValue): \(message)" }
}
