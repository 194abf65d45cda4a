import Model

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

/// An error or a warning in a file that users write, with its position.
package struct Diagnostic: Hashable, Sendable, Codable, CustomStringConvertible {
    /// The severity. An error makes the file's value unusable; a warning does not.
    package enum Severity: String, Hashable, Sendable, Codable, CaseIterable { case error, warning }

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

extension Diagnostics {
    /// The longest pattern of branches or tags, in bytes.
    static let maximumPattern = 255

    /// Reads a list of ref patterns, or a single one; `nil` if none is written.
    mutating func patterns(_ node: YAMLNode?, _ key: String) -> [RefPattern]? {
        guard let items = items(node, key) else { return nil }
        var patterns: [RefPattern] = []
        for item in items {
            guard let text = line(item, key) else { continue }
            if text.utf8.count > Self.maximumPattern || text.contains(where: \.isWhitespace) {
                error(
                    "\(Printable.quoted(text)) matches no ref: a blank in it, or longer than \(Self.maximumPattern)",
                    at: item.position)
            } else if text.hasPrefix("refs/") {
                error("write the short name in `\(key)`, without `refs/heads/` or `refs/tags/`", at: item.position)
            } else {
                patterns.append(RefPattern(text))
            }
        }
        return patterns
    }

    /// Reads the name of a secret; `nil` if none is written, or after an error.
    mutating func secretName(_ node: YAMLNode?, _ key: String) -> String? {
        guard let node, let text = line(node, key) else { return nil }
        guard SecretStore.isName(text) else {
            error(
                "`\(key)` is the name of a secret (letters, digits, `.`, `_`, `-`, at most 64), not its value; "
                    + "`martlet secret set NAME` stores one", at: node.position)
            return nil
        }
        return text
    }

    /// Reads patterns of files below the repository's root; `nil` if none are written.
    mutating func filePatterns(_ node: YAMLNode?, _ key: String) -> [String]? {
        guard let items = items(node, key) else { return nil }
        var patterns: [String] = []
        for item in items {
            guard let text = line(item, key) else { continue }
            if FilePath.isBeneath(text) {
                patterns.append(text)
            } else {
                error(
                    "\(Printable.quoted(text)) leaves the repository; `\(key)` is relative to its root, without `..`",
                    at: item.position)
            }
        }
        return patterns
    }
}
