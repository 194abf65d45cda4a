import Basics
import Model
import Storage

/// A span of OpenTelemetry: an integration, a job or a step, with the semantic conventions for CI/CD.
///
/// The names are those of opentelemetry.io/docs/specs/semconv/cicd, version 1.37.0 of the schema.
struct TraceSpan: Sendable, Hashable {
    /// A value of `SpanKind` in trace.proto.
    enum Kind: Int64, Sendable { case `internal` = 1, server = 2 }

    /// The words of `cicd.pipeline.result` and `cicd.pipeline.task.run.result`.
    enum Result: String, Sendable { case success, failure, error, timeout, cancellation, skip }

    /// 16 hexadecimal digits.
    let id: String
    /// The id of the span around it; `nil` for an integration.
    let parent: String?
    let name: String
    let kind: Kind
    let start: Timestamp
    let end: Timestamp
    let attributes: [String: String]
    let result: Result
    /// The reason of a failure; `nil` if there is none.
    let message: String?

    /// Whether the span's status is an error.
    var isError: Bool { [.failure, .error, .timeout].contains(result) }
}

/// The spans of one run of an integration. Its ids are made of what it is, so one run has the same trace however often it is sent.
struct IntegrationTrace: Sendable, Hashable {
    /// 32 hexadecimal digits.
    let id: String
    let attributes: [String: String]
    let spans: [TraceSpan]

    /// The most bytes of a value.
    static let maximumBytes = 1024

    /// - Parameters:
    ///   - attempts: All attempts of the integration; those of its last run are in the trace.
    ///   - url: The service's URL.
    /// - Returns: `nil` for an integration that has not run.
    init?(_ record: IntegrationRecord, _ attempts: [AttemptRecord], url: String) {
        guard let start = record.startedAt, let end = record.endedAt, let result = record.state.result else {
            return nil
        }
        let (id, run) = (record.id, record.run)
        let place = "\(url)/bots/\(id.bot)/\(id.number)"
        let name = run == 1 ? "\(id)" : "\(id) run \(run)"
        let trace = String(
            Digest.sha256(of: Array("\(place) \(run) \(record.queuedAt.millisecondsSinceEpoch)".utf8)).prefix(32))
        self.id = trace
        var attributes = [
            "cicd.pipeline.name": id.bot.description, "cicd.pipeline.run.id": name,
            "cicd.pipeline.run.url.full": place, "vcs.ref.head.revision": record.headRevision.description,
            "vcs.ref.head.name": record.ref.shortName,
            "vcs.repository.url.full": record.repository.withoutUser,
        ]
        if record.ref.branch != nil { attributes["vcs.ref.head.type"] = "branch" }
        if record.ref.tag != nil { attributes["vcs.ref.head.type"] = "tag" }
        if let pull = record.pull {
            attributes["vcs.change.id"] = String(pull.number)
            attributes["vcs.ref.base.name"] = pull.base.shortName
        }
        self.attributes = attributes
        let outcome: TraceSpan.Result = record.isSkipped ? .skip : Self.result(of: result)
        var spans = [
            TraceSpan(
                id: Self.span(name, in: trace), parent: nil, name: "RUN \(id.bot)", kind: .server, start: start,
                end: end,
                attributes: Self.attributes(
                    ["cicd.pipeline.action.name": "RUN", "cicd.pipeline.result": outcome.rawValue], outcome,
                    "\(result)"), result: outcome, message: record.reason)
        ]
        for attempt in attempts where attempt.run == run {
            spans += Self.spans(of: attempt, beneath: spans[0].id, trace, place)
        }
        self.spans = spans
    }

    /// Returns the span of a job, and those of its steps.
    private static func spans(
        of attempt: AttemptRecord, beneath parent: String, _ trace: String, _ place: String
    ) -> [TraceSpan] {
        guard let start = attempt.startedAt, let end = attempt.endedAt, let verdict = attempt.state.verdict else {
            return []
        }
        let job = attempt.id.job.description
        let id = "\(attempt.id.integration)/\(job)/\(attempt.id.attempt)"
        let page = "\(place)/log/\(job)?attempt=\(attempt.id.attempt)"
        let outcome = result(of: .verdict(verdict))
        let own = Self.span(id, in: trace)
        let steps = attempt.steps.compactMap { step -> TraceSpan? in
            guard let stepEnd = step.endedAt else { return nil }
            let outcome: TraceSpan.Result = step.exit == 0 ? .success : step.limit == "time" ? .timeout : .failure
            var attributes = task(step.name, "\(id)/\(step.index)", page, outcome)
            switch step.step {
            case .building: attributes["cicd.pipeline.task.type"] = "build"
            case .testing: attributes["cicd.pipeline.task.type"] = "test"
            default: break
            }
            return TraceSpan(
                id: Self.span("\(id)/\(step.index)", in: trace), parent: own, name: step.name, kind: .internal,
                start: step.startedAt, end: stepEnd,
                attributes: Self.attributes(attributes, outcome, step.signal.map { "signal \($0)" } ?? "exit"),
                result: outcome,
                message: step.exit.flatMap { $0 == 0 ? nil : "exit status \($0)" } ?? step.signal.map { "signal \($0)" }
            )
        }
        let span = TraceSpan(
            id: own, parent: parent, name: job, kind: .internal, start: start, end: end,
            attributes: attributes(task(job, id, page, outcome), outcome, verdict.rawValue), result: outcome,
            message: attempt.reason)
        return [span] + steps
    }

    private static func task(
        _ name: String, _ id: String, _ page: String, _ result: TraceSpan.Result
    ) -> [String: String] {
        [
            "cicd.pipeline.task.name": name, "cicd.pipeline.task.run.id": id, "cicd.pipeline.task.run.url.full": page,
            "cicd.pipeline.task.run.result": result.rawValue,
        ]
    }

    /// Adds `error.type`, which a span with an error has.
    private static func attributes(
        _ attributes: [String: String], _ result: TraceSpan.Result, _ error: String
    ) -> [String: String] {
        var attributes = attributes
        switch result {
        case .failure, .error: attributes["error.type"] = error
        case .timeout: attributes["error.type"] = "timeout"
        case .success, .cancellation, .skip: break
        }
        return attributes
    }

    private static func span(_ name: String, in trace: String) -> String {
        String(Digest.sha256(of: Array("\(trace) \(name)".utf8)).prefix(16))
    }

    /// A failing check is the code's failure; a failing checkout, trigger or service is the system's error.
    private static func result(of result: IntegrationResult) -> TraceSpan.Result {
        switch result {
        case .verdict(.succeeded), .verdict(.warnings), .verdict(.analyzerWarnings): .success
        case .verdict(.testFailures), .verdict(.buildErrors): .failure
        case .verdict(.checkoutError), .verdict(.internalError), .triggerError: .error
        case .verdict(.canceled): .cancellation
        }
    }
}

extension IntegrationRecord {
    /// The commit that a user pushed: of a pull request its head, not the merge.
    fileprivate var headRevision: CommitID { pull?.head ?? commit }
}

extension String {
    /// A repository's URL without the user, which may be a token.
    fileprivate var withoutUser: String {
        guard let scheme = firstRange(of: "://") else { return self }
        let rest = self[scheme.upperBound...]
        let host = rest.prefix { $0 != "/" }
        guard let at = host.lastIndex(of: "@") else { return self }
        return String(self[..<scheme.upperBound] + rest[rest.index(after: at)...])
    }
}
