import Encodings
import Integrations
import Model
import Storage
import Transfer

/// The JSON objects that `docs/reference/http-answers.md` documents. Times are in RFC 3339, durations in seconds, sizes in bytes.
extension JSONValue {
    static func list(_ items: [JSONValue], next: Int64? = nil) -> JSONValue {
        ["items": .array(items), "next": next.map { .string(String($0)) } ?? .null]
    }

    init(_ time: Timestamp?) { self = time.map { .string($0.description) } ?? .null }

    /// Writes a bot.
    /// - Parameter nextScheduled: When the schedule next queues an integration; `nil` without a schedule.
    init(_ bot: BotRecord, specification: BotSpecification?, nextScheduled: Timestamp?) {
        let repository = bot.repositoryState
        self = [
            "name": .string(bot.name.description), "repository": .string(Pages.withoutUser(bot.repository)),
            "branches": specification?.branches.map { .array($0.map { .string($0.description) }) } ?? .null,
            "tags": .array((specification?.tags ?? []).map { .string($0.description) }),
            "product": .string((specification?.product ?? bot.name).description), "retired": .bool(bot.isRetired),
            "schedule": .init(specification?.schedule?.sentence), "nextScheduled": .init(nextScheduled),
            "latest": bot.latest.map { JSONValue($0) } ?? .null, "lookedAt": .init(repository?.lastScan),
            "lookError": .init(repository?.lastError), "empty": .bool(repository?.isEmpty ?? false),
        ]
    }

    /// Writes an integration for a listing, without `configurations`.
    init(_ integration: IntegrationOutline) {
        self = .object(Self.members(of: integration, step: integration.state.step.rawValue))
    }

    /// Writes an integration. While jobs run, its `step` is that of the least advanced job.
    /// - Parameters:
    ///   - attempts: The latest attempt of each job; `nil` in listings, which omit `configurations`.
    ///   - all: Every attempt. Each configuration then lists its own.
    init(
        _ integration: IntegrationRecord, attempts: [AttemptRecord]?, all: [AttemptRecord] = [],
        reruns: [RerunRecord] = []
    ) {
        let step = integration.state.step == .running ? attempts?.leastAdvancedStep?.rawValue : nil
        var members = Self.members(of: integration.outline, step: step ?? integration.state.step.rawValue)
        if let attempts {
            members.append(Member(key: "reruns", value: .array(reruns.map { JSONValue($0) })))
            let configurations = attempts.map { shown in
                JSONValue(shown, beside: all.filter { $0.id.job == shown.id.job })
            }
            members.append(Member(key: "configurations", value: .array(configurations)))
        }
        self = .object(members)
    }

    private static func members(of integration: IntegrationOutline, step: String) -> [Member] {
        var members: [Member] = []
        func add(_ key: String, _ value: JSONValue) { members.append(Member(key: key, value: value)) }
        add("bot", .string(integration.id.bot.description))
        add("number", .integer(Int64(integration.id.number)))
        add("commit", .string(integration.commit.description))
        add("ref", .string(integration.ref.description))
        add("base", .init(describing: integration.pull?.base))
        add("head", .init(describing: integration.pull?.head))
        add("pullRequest", integration.pull.map { JSONValue($0) } ?? .null)
        add("cause", .string(integration.cause.rawValue))
        add("requestedBy", .init(integration.requestedBy))
        add("subject", .init(integration.subject))
        add("author", .init(integration.author))
        add("project", .init(integration.project))
        add("state", .string(integration.state.word))
        add("step", .string(step))
        add("verdict", .init(integration.state.verdict?.rawValue))
        add("result", .init(describing: integration.state.result))
        add("skipped", .bool(integration.isSkipped))
        add("reason", .init(integration.reason))
        add("queued", .init(integration.queuedAt))
        add("started", .init(integration.startedAt))
        add("ended", .init(integration.endedAt))
        add("run", .integer(Int64(integration.run)))
        add("supersededBy", .init(describing: integration.supersededBy))
        add("summary", integration.summary.map { JSONValue($0) } ?? .null)
        return members
    }

    init(_ rerun: RerunRecord) {
        self = [
            "run": .integer(Int64(rerun.run)), "requestedBy": .string(rerun.requestedBy),
            "requested": .init(rerun.requestedAt), "failed": .bool(rerun.isFailedOnly),
            "tests": .init(rerun.testFilter), "triggers": .bool(rerun.isTriggersOnly),
        ]
    }

    init(_ summary: Summary) {
        let parts: [(String, KeyPath<Counts, Int>)] = [
            ("errors", \.errors), ("warnings", \.warnings), ("analyzerWarnings", \.analyzerWarnings),
            ("testFailures", \.testFailures), ("tests", \.tests), ("flakyTests", \.flakyTests),
        ]
        self = .object(
            parts.map { Member(key: $0.0, value: .integer(Int64(summary.counts[keyPath: $0.1]))) }
                + parts.map { Member(key: $0.0 + "Change", value: .integer(Int64(summary.change[keyPath: $0.1]))) })
    }

    /// Writes an attempt.
    /// - Parameter all: Every attempt of its job.
    init(_ attempt: AttemptRecord, beside all: [AttemptRecord]) {
        self = [
            "name": .string(attempt.id.job.description), "attempt": .integer(Int64(attempt.id.attempt)),
            "run": .integer(Int64(attempt.run)), "testFilter": .init(attempt.testFilter),
            "state": .string(attempt.state.word), "step": .init(Self.step(of: attempt)),
            "verdict": .init(attempt.state.verdict?.rawValue), "reason": .init(attempt.reason),
            "analysis": .init(attempt.analysis), "tested": .init(attempt.tested),
            "isolation": .init(attempt.isolation?.word), "isolationReason": .init(attempt.isolation?.reason),
            "notes": .array(attempt.notes.map { .string($0) }), "queued": .init(attempt.queuedAt),
            "started": .init(attempt.startedAt), "ended": .init(attempt.endedAt),
            "steps": .array(attempt.steps.map { JSONValue($0) }),
            "summary": attempt.summary.map { JSONValue($0) } ?? .null,
            "attempts": .array(
                all.map { other in
                    [
                        "attempt": .integer(Int64(other.id.attempt)), "run": .integer(Int64(other.run)),
                        "state": .string(other.state.word), "verdict": .init(other.state.verdict?.rawValue),
                        "reason": .init(other.reason), "testFilter": .init(other.testFilter),
                        "tested": .init(other.tested), "started": .init(other.startedAt), "ended": .init(other.endedAt),
                    ]
                }),
        ]
    }

    private static func step(of attempt: AttemptRecord) -> String? {
        if case .running(let step) = attempt.state { step.rawValue } else { nil }
    }

    init(_ step: StepRecord) {
        self = [
            "step": .string(step.step.rawValue), "name": .string(step.name), "started": .init(step.startedAt),
            "ended": .init(step.endedAt), "duration": .init(step.endedAt.map { $0 - step.startedAt }),
            "exit": .init(step.exit), "signal": .init(step.signal), "limit": .init(step.limit),
        ]
    }

    init(_ duration: Duration?) { self = duration.map { .number($0.seconds) } ?? .null }

    init(_ test: StoredTest) {
        self = [
            "suite": .string(test.result.suite), "name": .string(test.result.name),
            "configuration": .string(test.configuration.description), "outcome": .string(test.result.outcome.rawValue),
            "duration": .init(test.result.duration), "message": .init(test.result.message),
            "path": .init(test.result.path), "line": .init(test.result.line),
        ]
    }

    /// Writes an archived or published file.
    /// - Parameter url: The file's URL.
    init(_ artifact: Artifact, url: String) {
        self = [
            "configuration": .init(describing: artifact.configuration), "path": .string(artifact.path),
            "size": .integer(artifact.size.bytes), "sha256": .string(artifact.sha256), "url": .string(url),
        ]
    }

    /// Writes a run of a trigger.
    /// - Parameter upload: The progress of an upload that is running.
    init(_ trigger: TriggerRecord, upload: UploadProgress? = nil) {
        self = [
            "name": .string(trigger.trigger.description), "attempt": .integer(Int64(trigger.attempt)),
            "run": .integer(Int64(trigger.run)), "phase": .string(trigger.phase.rawValue),
            "state": .string(trigger.state.rawValue),
            "reason": .init(trigger.reason), "started": .init(trigger.startedAt), "ended": .init(trigger.endedAt),
            "upload": upload.map { JSONValue($0) } ?? .null,
        ]
    }

    private init(_ upload: UploadProgress) {
        self = [
            "phase": .string(upload.phase.rawValue), "file": .string(upload.file),
            "number": .integer(Int64(upload.number)),
            "count": .integer(Int64(upload.count)), "bytes": .integer(upload.bytes), "size": .integer(upload.size),
            "attempt": .integer(Int64(upload.attempt)), "interruption": .init(upload.interruption),
            "text": .string(upload.sentence),
        ]
    }

    init(_ delivery: DeliveryRecord) {
        self = [
            "id": .string(delivery.id), "source": .string(delivery.source.rawValue), "hook": .string(delivery.hook),
            "event": .string(delivery.event), "received": .init(delivery.receivedAt),
            "fate": .string(delivery.outcome.rawValue), "reason": .init(delivery.reason),
            "refUpdates": .array(delivery.refUpdates.map { JSONValue($0) }),
        ]
    }

    init(_ update: RefUpdateRecord) {
        self = [
            "ref": .string(update.ref.description), "generation": .integer(Int64(update.generation)),
            "before": .init(describing: update.before), "after": .init(describing: update.after),
            "fate": .string(update.outcome.rawValue), "reason": .init(update.reason),
            "integrations": .array(update.integrations.map { .string($0.description) }),
        ]
    }

    /// Writes a published version.
    /// - Parameters:
    ///   - root: The service's URL.
    ///   - downloads: The download counts of the product's files.
    init(_ version: VersionRecord, root: String, downloads: Downloads.Counts) {
        let place = "\(root)/files/\(version.product)/\(PercentEncoding.encode(version.version.description))/"
        self = [
            "version": .string(version.version.description), "product": .string(version.product.description),
            "published": .init(version.publishedAt), "commit": .string(version.commit.description),
            "ref": .string(version.ref.description), "integration": .string(version.integration.description),
            "files": .array(
                version.files.map { file in
                    [
                        "configuration": .init(describing: file.configuration), "path": .string(file.path),
                        "size": .integer(file.size.bytes), "sha256": .string(file.sha256),
                        "url": .string(place + PercentEncoding.encode(path: file.path)),
                        "downloads": .integer(downloads.of(file.path, in: version)),
                    ]
                }),
            "downloads": .integer(downloads.of(version)),
            "yanked": .bool(version.isYanked), "registry": .init(describing: version.registry),
        ]
    }

    init(_ token: TokenRecord) {
        self = [
            "name": .string(token.name), "role": .string(token.role.rawValue), "created": .init(token.createdAt),
            "revoked": .init(token.revokedAt),
        ]
    }
}
