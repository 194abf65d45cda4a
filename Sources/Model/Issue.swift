/// A finding as a reader of a tool's output makes it, before it is compared with earlier integrations.
package struct Finding: Hashable, Sendable, Codable {
    /// What kind of finding; the words are the interface's.
    package enum Category: String, Sendable, Codable, CaseIterable {
        case error
        case warning
        case analyzerWarning = "analyzer-warning"
        case testFailure = "test-failure"
        case triggerError = "trigger-error"
    }

    package var category: Category
    /// One line or several, as the tool said it, at most `maximumMessageBytes`.
    package var message: String
    /// The tool's name of the rule: a SARIF ruleId, a compiler's warning group, a test's full name. Empty when none.
    package var rule: String
    /// Relative to the repository's root; as printed when the file lies elsewhere; nothing when there is no place.
    package var path: String?
    /// Counts from 1.
    package var line: Int?
    /// Counts from 1, in the tool's units.
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

/// A finding with its life through a branch's integrations.
package struct Issue: Hashable, Sendable, Codable {
    /// Against the branch's integration before.
    package enum Status: String, Sendable, Codable, CaseIterable { case new, unresolved, resolved, silenced }

    /// Its name, given when it was first seen and kept while it lives, wherever its line goes.
    package var fingerprint: String
    /// What it is known by wherever it stands: made of category, rule and the line's text. Empty for what an older version
    /// stored.
    package var content: String
    package var status: Status
    /// As it was found last.
    package var finding: Finding
    /// Integrations of this branch in a row that have it, counting this one; 0 when resolved.
    package var age: Int
    /// The number of the first of these; nothing where an older version stored it.
    package var since: Int?
    /// The configurations that showed it.
    package var configurations: [Name]
    /// Nothing where no commit can be named: nothing changed, or several people changed something else.
    package var introducedBy: Introduction?
    /// Also one that has expired since.
    package var silence: Silence?
    /// The kind of step that found it last; nothing where an older version stored it, and of what no step found.
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

    /// Whether it is counted, and weighs on the verdict. A silenced warning does neither; a silenced error or failing test
    /// is as red as any other.
    package var counts: Bool {
        switch status {
        case .resolved: false
        case .new, .unresolved: true
        case .silenced: finding.category != .warning && finding.category != .analyzerWarning
        }
    }
}
