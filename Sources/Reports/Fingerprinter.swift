package import Model

/// Names a finding so that it is the same one in the next integration although its line moved.
package enum Fingerprinter {
    /// The text whose SHA-256 is the fingerprint: category, rule, path, the line's text and an occurrence number.
    ///
    /// A test failure is its test, wherever and however it fails. Without the line's text, or without a rule, the message
    /// stands in: two different errors of one line are two issues.
    /// - Parameters:
    ///   - lineText: The source line at the finding's place, as of the integration's commit; white space is normalised, so
    ///     that indenting anew changes nothing.
    ///   - occurrence: 0 for the first finding that would have the same key, 1 for the next.
    package static func key(of finding: Finding, lineText: String?, occurrence: Int) -> String {
        var parts = [finding.category.rawValue, finding.rule]
        if finding.category != .testFailure || finding.rule.isEmpty {
            parts.append(finding.path ?? "")
            let line = lineText.map(normalised) ?? ""
            parts.append(line)
            if finding.rule.isEmpty || line.isEmpty { parts.append(normalised(finding.message)) }
        }
        parts.append(String(occurrence))
        // Each part with its length, so that no two lists of parts give one text.
        return parts.map { "\($0.utf8.count):\($0)" }.joined(separator: "\n")
    }

    /// The keys of an attempt's findings, in their order. Equal ones are numbered from top to bottom of their file.
    /// - Parameter lineText: The text of a line of a file of the commit; asked once a finding that has path and line.
    package static func keys(of findings: [Finding], lineText: (_ path: String, _ line: Int) -> String?) -> [String] {
        let order = findings.indices.sorted { left, right in
            let (a, b) = (findings[left], findings[right])
            return (a.path ?? "", a.line ?? 0, a.column ?? 0, left) < (b.path ?? "", b.line ?? 0, b.column ?? 0, right)
        }
        var keys = [String](repeating: "", count: findings.count)
        var seen: [String: Int] = [:]
        for index in order {
            let finding = findings[index]
            var text: String?
            if finding.category != .testFailure, let path = finding.path, let line = finding.line {
                text = lineText(path, line)
            }
            let first = key(of: finding, lineText: text, occurrence: 0)
            let occurrence = seen[first, default: 0]
            seen[first] = occurrence + 1
            keys[index] = occurrence == 0 ? first : key(of: finding, lineText: text, occurrence: occurrence)
        }
        return keys
    }

    private static func normalised(_ text: String) -> String {
        text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }
}
