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

extension Finding {
    /// The full name of the test that this finding calls flaky; `nil` for every other finding.
    package var flakyTest: String? {
        guard category == .warning, rule.hasPrefix(Rule.flaky) else { return nil }
        return String(rule.dropFirst(Rule.flaky.count))
    }

    /// Whether the finding is about a test. Such findings are identified by the test, regardless of where and how it fails.
    package var isOfTest: Bool {
        category == .testFailure && rule != Rule.failedTestCommand || flakyTest != nil
    }

    /// Creates a warning of a test that failed and passed on one commit. A pass on retry is not a success, because the test or the tested code
    /// depends on chance.
    /// - Parameter how: A description of what happened.
    /// - Returns: `nil` if the test's outcome is not `flaky`.
    package init?(flaky result: TestResult, how: String = "it failed, and passed when it was run again") {
        guard result.outcome == .flaky else { return nil }
        let said = result.message.map { ": " + $0 } ?? ""
        self.init(
            category: .warning, message: "\(result.fullName) is flaky: \(how)\(said)",
            rule: Rule.flaky + result.fullName, path: result.path, line: result.line)
    }
}

/// A user's statement that an issue is known and should be muted.
package struct Silence: Hashable, Sendable, Codable {
    package var reason: String
    /// The user's name: a token's name, or the user at the Unix socket.
    package var person: String
    package var at: Timestamp
    /// When the mute ends; `nil` means that it lasts until it is removed.
    package var expires: Timestamp?

    /// The size limit of the reason in bytes.
    package static let maximumReasonBytes = 1000
    /// The longest duration of a mute with an end. A longer one should have no end.
    package static let longest: Duration = .seconds(10 * 366 * 86_400)

    package init(reason: String, person: String, at: Timestamp, expires: Timestamp? = nil) {
        self.reason = reason
        self.person = person
        self.at = at
        self.expires = expires
    }

    /// Whether the mute is in effect at a time.
    package func holds(at time: Timestamp) -> Bool { expires.map { time < $0 } ?? true }
}
