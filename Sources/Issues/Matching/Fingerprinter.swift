package import Model

/// Functions that compute keys that identify a finding in the next integration even if its line has moved.
package enum Fingerprinter {
    /// The keys of a finding.
    package struct Keys: Hashable, Sendable {
        /// The text whose SHA-256 is the fingerprint of a new issue: `content`, the path, and the number of the occurrence.
        package var place: String
        /// The text whose SHA-256 identifies the finding at any place: category, rule and the line's text.
        package var content: String
    }

    /// Returns the keys of one finding.
    ///
    /// A test failure and a flaky test are identified by the test, regardless of place and message. Without the line's text or a rule, the message is
    /// used, without the parts that name a build or a moment. Two different errors in one line are therefore two issues. A test command that failed
    /// without a failing test is identified by its message, numbers included: a time-out in one configuration and a lack of memory in another are
    /// separate issues.
    /// - Parameters:
    ///   - lineText: The source line at the finding's place, in the integration's commit. White space is normalized, so that changed indentation does
    ///     not matter.
    ///   - occurrence: 0 for the first finding with the same key, 1 for the next.
    package static func keys(of finding: Finding, lineText: String?, occurrence: Int) -> Keys {
        var parts = [finding.category.rawValue, finding.rule]
        var path = ""
        if !finding.isOfTest || finding.rule.isEmpty {
            path = MessageText.withoutBuildDirectory(finding.path ?? "")
            let line = lineText.map(MessageText.normalized) ?? ""
            parts.append(line)
            if finding.rule.isEmpty || finding.rule == Finding.Rule.failedTestCommand {
                parts.append(MessageText.identifying(finding.message))
            } else if line.isEmpty {
                parts.append(MessageText.withoutNumbers(MessageText.identifying(finding.message)))
            }
        }
        let content = joined(parts)
        return Keys(place: joined([content, path, String(occurrence)]), content: content)
    }

    /// Joins parts, each with its length, so that different lists never give the same text.
    private static func joined(_ parts: [String]) -> String {
        parts.map { "\($0.utf8.count):\($0)" }.joined(separator: "\n")
    }

    /// Returns the keys of an attempt's findings, in their order. Equal ones are numbered from top to bottom of their file.
    /// - Parameter lineText: Returns the text of a line of a file of the commit. It is called once for each finding with a path and a line.
    package static func keys(of findings: [Finding], lineText: (_ path: String, _ line: Int) -> String?) -> [Keys] {
        var all = [Keys](repeating: Keys(place: "", content: ""), count: findings.count)
        forEachKeys(of: findings, lineText: lineText) { all[$0] = $1 }
        return all
    }

    /// Calls `body` with the keys of each finding, in the order of their places, so that only the results are in memory.
    /// - Parameter body: Called with a finding's index in the list and its keys.
    package static func forEachKeys(
        of findings: [Finding], lineText: (_ path: String, _ line: Int) -> String?, _ body: (Int, Keys) -> Void
    ) {
        let order = findings.indices.sorted { left, right in
            let (a, b) = (findings[left], findings[right])
            return (a.path ?? "", a.line ?? 0, a.column ?? 0, left) < (b.path ?? "", b.line ?? 0, b.column ?? 0, right)
        }
        var seen: [String: Int] = [:]
        for index in order {
            let finding = findings[index]
            var text: String?
            if !finding.isOfTest, let path = finding.path, let line = finding.line {
                text = lineText(path, line)
            }
            let first = keys(of: finding, lineText: text, occurrence: 0)
            let occurrence = seen[first.place, default: 0]
            seen[first.place] = occurrence + 1
            body(index, occurrence == 0 ? first : keys(of: finding, lineText: text, occurrence: occurrence))
        }
    }
}
