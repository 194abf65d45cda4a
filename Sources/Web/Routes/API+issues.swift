import API
import Model
import Storage

extension API.Issue {
    /// - Parameter time: The current time, which determines whether the silence has expired.
    init(_ issue: Model.Issue, at time: Timestamp) {
        let finding = issue.finding
        self.init(
            fingerprint: issue.fingerprint, category: finding.category.rawValue, status: issue.status.rawValue,
            age: issue.age, since: issue.since, rule: finding.rule, message: finding.message, path: finding.path,
            line: finding.line, column: finding.column, configurations: issue.configurations.map(\.description),
            introducedBy: issue.introducedBy.map { API.Introduction($0) },
            silence: issue.silence.map { API.Silence($0, at: time) })
    }
}

extension API.Introduction {
    init(_ introduction: Model.Introduction) {
        self.init(
            commit: introduction.commit.description, author: introduction.author, email: introduction.email,
            strategy: introduction.strategy.rawValue, confidence: introduction.confidence.rawValue)
    }
}

extension API.Silence {
    /// - Parameter time: The current time, which determines whether the silence has expired.
    init(_ silence: Model.Silence, at time: Timestamp) {
        self.init(
            reason: silence.reason, person: silence.person, at: API.Time(silence.at),
            expires: API.Time(silence.expires), expired: !silence.holds(at: time))
    }
}

extension API.SilencedIssue {
    /// - Parameter time: The current time, which determines whether the silence has expired.
    init(_ silenced: Storage.SilencedIssue, at time: Timestamp) {
        self.init(
            fingerprint: silenced.fingerprint, silence: API.Silence(silenced.silence, at: time),
            issue: silenced.issue.map { Shown($0) })
    }
}

extension API.SilencedIssue.Shown {
    init(_ issue: Storage.SilencedIssue.Shown) {
        let finding = issue.finding
        self.init(
            integration: issue.integration.description, ref: issue.ref.description, resolved: issue.isResolved,
            category: finding.category.rawValue, rule: finding.rule, message: finding.message, path: finding.path,
            line: finding.line)
    }
}
