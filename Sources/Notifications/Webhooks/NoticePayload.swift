import JobProtocol
import Model
import Storage

/// Writes a message as JSON, for the body of a webhook. The names are those of the HTTP interface (`docs/reference/http-answers.md`); keys are
/// sorted.
package enum NoticePayload {
    /// The most issues in a message; `newIssues` counts all.
    static let maximumIssues = 50
    /// The most bytes of an issue's message.
    static let maximumMessage = 2048

    static func json(of facts: NoticeFacts) -> JSON {
        var data: [String: JSON] = [
            "integration": integration(facts.integration), "url": .string(facts.page),
            "notice": .string(facts.notice.description),
            "newIssues": .integer(Int64(facts.counts.new)),
            "issues": .array((facts.news + facts.resolved).prefix(maximumIssues).map(issue)),
            "brokenBy": facts.brokenBy.map { .integer(Int64($0.number)) } ?? .null,
        ]
        data["version"] =
            facts.version.map { version in
                [
                    "product": version.product.description, "version": version.version.description,
                    "ref": version.ref.description, "commit": version.commit.description,
                    "integration": version.integration.description,
                ].json
            } ?? .null
        // The form that Standard Webhooks recommends ("Payload structure").
        return .object([
            "type": .string("integration.\(facts.transition.rawValue)"), "timestamp": .string(facts.at.description),
            "data": .object(data),
        ])
    }

    private static func integration(_ record: IntegrationRecord) -> JSON {
        .object([
            "bot": .string(record.id.bot.description), "number": .integer(Int64(record.id.number)),
            "commit": .string(record.commit.description), "ref": .string(record.ref.description),
            "cause": .string(record.cause.rawValue), "requestedBy": .init(record.requestedBy),
            "subject": .init(record.subject), "author": .init(record.author),
            "state": .string(record.state.word), "verdict": .init(record.state.verdict?.rawValue),
            "result": .init(record.state.result?.description), "reason": .init(record.reason),
            "queued": .string(record.queuedAt.description), "started": .init(record.startedAt?.description),
            "ended": .init(record.endedAt?.description), "run": .integer(Int64(record.run)),
            "summary": record.summary.map(summary) ?? .null,
        ])
    }

    private static func tally(_ tally: TestTally) -> JSON {
        .object([
            "tests": .integer(Int64(tally.tests)), "configurations": .integer(Int64(tally.configurations)),
            "failing": .integer(Int64(tally.failing)), "flaky": .integer(Int64(tally.flaky)),
            "skipped": .integer(Int64(tally.skipped)), "says": .string(tally.sentence),
        ])
    }

    private static func summary(_ summary: Summary) -> JSON {
        let parts: [(String, KeyPath<Counts, Int>)] = [
            ("errors", \.errors), ("warnings", \.warnings), ("analyzerWarnings", \.analyzerWarnings),
            ("testFailures", \.testFailures), ("tests", \.tests), ("flakyTests", \.flakyTests),
        ]
        var members: [String: JSON] = [:]
        for (name, path) in parts {
            members[name] = .integer(Int64(summary.counts[keyPath: path]))
            members[name + "Change"] = .integer(Int64(summary.change[keyPath: path]))
        }
        members["tally"] = summary.tally.map(tally) ?? .null
        return .object(members)
    }

    private static func issue(_ issue: Issue) -> JSON {
        .object([
            "fingerprint": .string(issue.fingerprint), "category": .string(issue.finding.category.rawValue),
            "status": .string(issue.status.rawValue), "age": .integer(Int64(issue.age)),
            "since": issue.since.map { .integer(Int64($0)) } ?? .null, "rule": .string(issue.finding.rule),
            "message": .string(issue.finding.message.cut(toBytes: maximumMessage)), "path": .init(issue.finding.path),
            "line": issue.finding.line.map { .integer(Int64($0)) } ?? .null,
            "column": issue.finding.column.map { .integer(Int64($0)) } ?? .null,
            "configurations": .array(issue.configurations.map { .string($0.description) }),
            "introducedBy": issue.introducedBy.map { found in
                [
                    "commit": found.commit.description, "author": found.author, "email": found.email,
                    "strategy": found.strategy.rawValue, "confidence": found.confidence.rawValue,
                ].json
            } ?? .null,
        ])
    }
}

extension JSON {
    fileprivate init(_ text: String?) { self = text.map { .string($0) } ?? .null }
}

extension [String: String] {
    fileprivate var json: JSON { .object(mapValues { .string($0) }) }
}
