import Model
import Storage

extension JSONValue {
    /// Writes an issue.
    /// - Parameter time: The current time, which determines the silences that have expired.
    init(_ issue: Issue, at time: Timestamp) {
        self = [
            "fingerprint": .string(issue.fingerprint), "category": .string(issue.finding.category.rawValue),
            "status": .string(issue.status.rawValue), "age": .integer(Int64(issue.age)), "since": .init(issue.since),
            "rule": .string(issue.finding.rule), "message": .string(issue.finding.message),
            "path": .init(issue.finding.path), "line": .init(issue.finding.line),
            "column": .init(issue.finding.column),
            "configurations": .array(issue.configurations.map { .string($0.description) }),
            "introducedBy": issue.introducedBy.map { JSONValue($0) } ?? .null,
            "silence": issue.silence.map { JSONValue($0, at: time) } ?? .null,
        ]
    }

    init(_ introduction: Introduction) {
        self = [
            "commit": .string(introduction.commit.description), "author": .string(introduction.author),
            "email": .string(introduction.email), "strategy": .string(introduction.strategy.rawValue),
            "confidence": .string(introduction.confidence.rawValue),
        ]
    }

    /// Writes a silence. `issue` is null if no branch's newest integration has the issue.
    init(_ silenced: SilencedIssue, at time: Timestamp) {
        var members: [Member] = [.init(key: "fingerprint", value: .string(silenced.fingerprint))]
        if case .object(let all) = JSONValue(silenced.silence, at: time) { members += all }
        let issue: JSONValue? = silenced.issue.map { issue in
            [
                "integration": .string(issue.integration.description), "ref": .string(issue.ref.description),
                "resolved": .bool(issue.isResolved), "category": .string(issue.finding.category.rawValue),
                "rule": .string(issue.finding.rule), "message": .string(issue.finding.message),
                "path": .init(issue.finding.path), "line": .init(issue.finding.line),
            ]
        }
        self = .object(members + [.init(key: "issue", value: issue ?? .null)])
    }

    init(_ silence: Silence, at time: Timestamp) {
        self = [
            "reason": .string(silence.reason), "person": .string(silence.person), "at": .init(silence.at),
            "expires": .init(silence.expires), "expired": .bool(!silence.holds(at: time)),
        ]
    }
}
