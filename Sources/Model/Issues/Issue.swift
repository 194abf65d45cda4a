/// A finding in a tool's output, before it is compared with earlier integrations.
package struct Finding: Hashable, Sendable, Codable {
    /// The kind of a finding. The raw values are the words of the JSON interface.
    package enum Category: String, Sendable, Codable, CaseIterable {
        case error
        case warning
        case analyzerWarning = "analyzer-warning"
        case testFailure = "test-failure"
        case triggerError = "trigger-error"
    }

    package var category: Category
    /// The tool's message, of one or several lines and at most `maximumMessageBytes`.
    package var message: String
    /// The tool's name of the rule: a SARIF ruleId, a compiler's warning group, or a test's full name. Empty if there is none.
    package var rule: String
    /// The path relative to the repository's root, or as printed if the file is elsewhere; `nil` if there is no location.
    package var path: String?
    /// The line, counted from 1.
    package var line: Int?
    /// The column, counted from 1 in the tool's units.
    package var column: Int?

    package static let maximumMessageBytes = 16 * 1024

    package init(
        category: Category, message: String, rule: String = "", path: String? = nil, line: Int? = nil,
        column: Int? = nil
    ) {
        self.category = category
        self.message = message
        self.rule = rule
        self.path = path
        self.line = line
        self.column = column
    }
}

/// A finding that is tracked through the integrations of a branch.
package struct Issue: Hashable, Sendable, Codable {
    /// The status relative to the branch's previous integration.
    package enum Status: String, Sendable, Codable, CaseIterable { case new, unresolved, resolved, silenced }

    /// The identifier of the issue. It is assigned when the issue is first seen, and kept when its line moves.
    package var fingerprint: String
    /// The key by which the issue is recognized at any place: made of category, rule and the line's text. Empty if an older version stored the issue.
    package var content: String
    package var status: Status
    /// The latest finding.
    package var finding: Finding
    /// The number of consecutive integrations of this branch with the issue, including this one; 0 if it is resolved.
    package var age: Int
    /// The number of the first of these integrations; `nil` if an older version stored the issue.
    package var since: Int?
    /// The configurations in which it was found.
    package var configurations: [Name]
    /// The commit that introduced it. `nil` if no commit can be named: no commit changed the code, or several authors changed something else.
    package var introducedBy: Introduction?
    /// The mute of the issue, also an expired one.
    package var silence: Silence?
    /// The kind of step that found it last; `nil` if an older version stored the issue, or no step found it.
    package var step: JobStep?

    package init(
        fingerprint: String, content: String = "", status: Status, finding: Finding, age: Int, since: Int? = nil,
        configurations: [Name], introducedBy: Introduction? = nil, silence: Silence? = nil, step: JobStep? = nil
    ) {
        self.fingerprint = fingerprint
        self.content = content
        self.status = status
        self.finding = finding
        self.age = age
        self.since = since
        self.configurations = configurations
        self.introducedBy = introducedBy
        self.silence = silence
        self.step = step
    }

    /// Whether the issue is counted and affects the verdict. Muting removes a warning from both, but not an error or a failing test.
    package var counts: Bool {
        switch status {
        case .resolved: false
        case .new, .unresolved: true
        case .silenced: finding.category != .warning && finding.category != .analyzerWarning
        }
    }
}
