import Model

extension ReportContent {
    /// Returns the content with valid lines and columns, and texts without NUL, since a report may contain any value. No database or page accepts a
    /// NUL.
    func bounded() -> ReportContent {
        var content = self
        for index in findings.indices {
            content.findings[index].message.replaceNUL()
            content.findings[index].rule.replaceNUL()
            content.findings[index].path?.replaceNUL()
            if !Self.isPlace(findings[index].line) { content.findings[index].line = nil }
            if !Self.isPlace(findings[index].column) || content.findings[index].line == nil {
                content.findings[index].column = nil
            }
        }
        for index in tests.indices {
            content.tests[index].suite.replaceNUL()
            content.tests[index].name.replaceNUL()
            content.tests[index].message?.replaceNUL()
            content.tests[index].path?.replaceNUL()
            if !Self.isPlace(tests[index].line) { content.tests[index].line = nil }
        }
        for index in problems.indices { content.problems[index].replaceNUL() }
        for index in notes.indices { content.notes[index].replaceNUL() }
        return content
    }

    /// Returns whether a number is valid for a line or a column: from 1, with at most nine digits, as `PrintedPlace` reads them. `nil` is valid, too.
    static func isPlace(_ number: Int?) -> Bool { number.map { (1..<1_000_000_000).contains($0) } ?? true }
}

extension String {
    fileprivate mutating func replaceNUL() { self = withoutNUL }

    /// The text with each NUL replaced by U+FFFD.
    var withoutNUL: String {
        utf8.contains(0) ? String(map { $0 == "\u{0}" ? "\u{FFFD}" : $0 }) : self
    }
}
