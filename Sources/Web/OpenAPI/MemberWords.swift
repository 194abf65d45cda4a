import Integrations
import JobProtocol
import Model
import Settings
import Storage

/// The words of members that take certain words only. They are those of the types that answers are made of.
///
/// `API` has strings in these places, so that a command can read the answer of a newer service.
enum MemberWords {
    private static let states = ["queued", "running", "completed"]
    private static let attemptStates = ["queued", "running", "ended", "processed"]
    private static let verdicts = words(Verdict.self)
    private static let outcomes = words(TestResult.Outcome.self)
    private static let categories = words(Finding.Category.self)
    private static let phases = words(Trigger.Phase.self)
    private static let roles = words(Role.self)
    private static let steps = words(JobStep.self)
    private static let eventOutcomes = words(EventOutcome.self)
    private static let isolations = ["sandbox", "none"]

    /// The words by object and member.
    static let all: [String: [String]] = [
        "BotList.isolation": isolations, "Configuration.isolation": isolations,
        "Integration.state": states, "Configuration.state": attemptStates,
        "Configuration.Attempt.state": attemptStates,
        "Integration.cause": words(Cause.self),
        "Integration.step": words(IntegrationStep.self) + steps, "Configuration.step": steps,
        "Configuration.Step.step": steps, "Plan.Step.step": steps,
        "Integration.verdict": verdicts, "Integration.result": verdicts + ["trigger-error"],
        "Configuration.verdict": verdicts, "Configuration.Attempt.verdict": verdicts,
        "TestCase.outcome": outcomes, "TestHistory.Column.outcome": outcomes, "TestHistory.Entry.outcome": outcomes,
        "TestHistory.Failure.outcome": outcomes,
        "Issue.category": categories, "SilencedIssue.Shown.category": categories,
        "Issue.status": words(Model.Issue.Status.self),
        "Introduction.strategy": words(Model.Introduction.Strategy.self),
        "Introduction.confidence": words(Model.Introduction.Confidence.self),
        "Delivery.fate": eventOutcomes, "RefUpdate.fate": eventOutcomes, "Delivery.source": words(EventSource.self),
        "OutboxMessage.kind": words(OutboxDestination.Kind.self),
        "OutboxMessage.state": words(Storage.OutboxMessage.State.self),
        "PullRequest.state": words(PullRequestState.Word.self),
        "TriggerRun.state": words(TriggerState.self), "TriggerRun.phase": phases,
        "Plan.Trigger.phase": phases, "Plan.Trigger.kind": ["run", "publish", "upload"],
        "Plan.Trigger.when": words(Trigger.Condition.self),
        "Plan.Step.network": words(JobDescription.Network.self),
        "Plan.Diagnostic.severity": words(Settings.Diagnostic.Severity.self),
        "Token.role": roles, "NewToken.role": roles, "TokenRequest.role": roles,
        "LimitedRole.role": roles,
        "Health.status": ["ok", "disk full"], "AuditRow.action": words(AuditAction.self),
        "Secret.state": words(Settings.SecretState.Place.self),
        "SecretChange.change": SecretRoutes.changes.keys.sorted(), "Condition.kind": words(ServiceCondition.Kind.self),
        "Readiness.Check.name": ServiceCondition.Kind.examined.map(\.rawValue) + ["start"],
    ]

    private static func words<Word: RawRepresentable & CaseIterable>(_ type: Word.Type) -> [String]
    where Word.RawValue == String {
        type.allCases.map(\.rawValue)
    }

    /// Returns the words of a member; `nil` if it takes any text.
    static func of(_ member: String, in object: String) -> [String]? { find(member, of: object, in: all) }

    /// The objects that write the members of another one as their own.
    private static let parents = [
        "IntegrationDetail": "Integration", "QueuedRerun": "IntegrationDetail", "SilencedIssue": "Silence",
    ]

    /// Returns what a table has for a member of an object, or of the object whose members it writes; `nil` if it has nothing.
    static func find<Value>(_ member: String, of object: String, in table: [String: Value]) -> Value? {
        let name = object.hasPrefix("List.") ? "List" : object
        return table["\(name).\(member)"] ?? parents[name].flatMap { find(member, of: $0, in: table) }
    }
}

/// Examples of members, by name. One name has values of one kind wherever it stands.
enum MemberExamples {
    private static let commit: JSONValue = "2f0e9b1c7d3a5e4f60718293a4b5c6d7e8f90a1b"

    private static let all: [String: JSONValue] = [
        "bot": "kit", "commit": commit, "head": commit, "baseCommit": commit, "ref": "refs/heads/main",
        "branch": "main", "branches": ["main", "release/*"], "configuration": "debug",
        "configurations": ["debug", "release"], "integration": "kit#41", "integrations": ["kit#41"],
        "supersededBy": "kit#42", "latest": "kit#41", "id": "kit#41", "subject": "Fix the parser", "author": "Ann",
        "email": "ann@acme.example", "requestedBy": "ann", "person": "ann", "reason": "flaky until the parser is fixed",
        "repository": "https://git.acme.example/kit.git", "product": "kit", "version": "1.4.2",
        "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "fingerprint": "9f86d081884c7d65", "rule": "unused-variable", "message": "unused variable 'x'",
        "path": "Sources/Kit/Parser.swift", "line": 12, "column": 5, "suite": "ParserTests", "name": "testThatItParses",
        "url": "https://ci.acme.example/bots/kit/41", "toolchain": "6.3", "image": "debian12",
        "command": "swift build --build-tests", "directory": ".", "duration": 41, "number": 41,
        "until": "2026-12-31T00:00:00Z",
    ]

    /// Returns an example of a member; `nil` if there is none of its name and kind.
    static func of(_ member: Schema.Member) -> JSONValue? {
        guard let example = all[member.name] else { return nil }
        var schema = member.schema
        if case .nullable(let inner) = schema { schema = inner }
        return switch (schema, example) {
        case (.string, .string), (.integer, .integer), (.number, .integer), (.array(of: .string), .array): example
        default: nil
        }
    }
}
