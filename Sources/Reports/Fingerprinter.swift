package import Model

/// Names a finding so that it is the same one in the next integration although its line moved.
package enum Fingerprinter {
    /// What a finding is known by.
    package struct Keys: Hashable, Sendable {
        /// The text whose SHA-256 is the fingerprint of an issue that is seen for the first time: `content`, the path, and
        /// the number of the occurrence.
        package var place: String
        /// The text whose SHA-256 tells what it is, wherever it is: category, rule and the line's text.
        package var content: String
    }

    /// The keys of one finding.
    ///
    /// A test failure is identified by its test, wherever and however it fails, and so is a flaky test. Without the line's text or a rule, the
    /// message is used, without the parts that name a build or a moment: two different errors in one line are two issues. A test command that
    /// failed without a failing test is identified by its message, figures included: a time-out in one configuration and a lack of memory in
    /// another are separate issues.
    /// - Parameters:
    ///   - lineText: The source line at the finding's place, in the integration's commit; white space is normalized, so that changed indentation
    ///     does not matter.
    ///   - occurrence: 0 for the first finding that would have the same key, 1 for the next.
    package static func keys(of finding: Finding, lineText: String?, occurrence: Int) -> Keys {
        var parts = [finding.category.rawValue, finding.rule]
        var path = ""
        if !finding.isOfTest || finding.rule.isEmpty {
            path = MessageText.withoutBuildDirectory(finding.path ?? "")
            let line = lineText.map(MessageText.normalised) ?? ""
            parts.append(line)
            if finding.rule.isEmpty || finding.rule == Finding.failedTestCommandRule {
                parts.append(MessageText.identifying(finding.message))
            } else if line.isEmpty {
                parts.append(MessageText.withoutNumbers(MessageText.identifying(finding.message)))
            }
        }
        let content = joined(parts)
        return Keys(place: joined([content, path, String(occurrence)]), content: content)
    }

    /// Each part with its length, so that no two lists of parts give one text.
    private static func joined(_ parts: [String]) -> String {
        parts.map { "\($0.utf8.count):\($0)" }.joined(separator: "\n")
    }

    /// The keys of an attempt's findings, in their order. Equal ones are numbered from top to bottom of their file.
    /// - Parameter lineText: The text of a line of a file of the commit; asked once a finding that has path and line.
    package static func keys(of findings: [Finding], lineText: (_ path: String, _ line: Int) -> String?) -> [Keys] {
        var all = [Keys](repeating: Keys(place: "", content: ""), count: findings.count)
        forEachKeys(of: findings, lineText: lineText) { all[$0] = $1 }
        return all
    }

    /// The same for all findings, one after the other in another order, so that only the results are in memory.
    /// - Parameter body: Called with a finding's place in the list and its keys.
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
