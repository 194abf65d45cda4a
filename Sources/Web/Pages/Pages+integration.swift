import Hummingbird
import Integrations
import Model
import Releases
import Storage
import Transfer

extension Pages {
    func integration(_ call: AuthorizedRequest) async throws -> Response {
        let record = try await site.integration(of: call)
        let store = site.store
        let number = try call.attempt()
        let all = try await site.attempts(of: record)
        let attempts = Site.shown(all, attempt: number)
        let reruns = record.run > 1 ? try await store.reruns(of: record.id) : []
        let issues = try await store.issueOverview(of: record.id, failures: Self.maximumFailures)
        let silenced = try await silencedConfigurations(of: record.id, attempts, issues)
        let links = IntegrationLinks(
            await site.links(of: record.repository, bot: record.id.bot), of: record,
            previous: try await store.historyBefore(record.id).previous)
        let isClosed = try await site.isClosed(record.id)
        // Hides both the archived files and the file that is being uploaded.
        let isHidden = isClosed && call.isAnonymous
        let artifacts = isHidden ? [] : try await store.artifacts(of: record.id, attempt: number)
        let triggers = try await store.triggers(of: record.id)
        let id = record.id
        var view = facts(of: record, links)
        view["result"] = .list([ResultView(record, attempts: attempts).view])
        view["sentence"] = .text(IntegrationSentence.verdict(of: record, attempts: attempts))
        view["configurations"] = .list(
            attempts.map { shown in
                configuration(
                    shown, of: record, beside: all.filter { $0.id.job == shown.id.job },
                    isSilenced: silenced.contains(shown.id.job), isAlone: attempts.count == 1)
            })
        view["reruns"] = .list(reruns.map(Self.rerun))
        view["noConfigurations"] = .text(
            number.map { "No configuration has an attempt \($0)." } ?? "None has started.")
        try await show(running: attempts, of: record, in: &view)
        let lines = try await LogLinks(of: id, attempt: number, in: store)
        try await show(
            issues: issues, in: FailureContext(record: record, attempts: attempts, links: links, lines: lines), &view)
        try await showTests(of: record, attempts, call: call, in: &view)
        show(coverage: try await store.coverage(of: record.id, attempt: number), of: record, in: &view)
        view["artifacts"] = .list(artifacts.map { Self.artifact($0, attempt: number) })
        view["hasArtifacts"] = .flag(!artifacts.isEmpty)
        view["noArtifacts"] = .text(
            isHidden
                ? "What it archived needs a token."
                : record.summary == nil
                    ? "No results yet: they are known when a configuration is done."
                    : artifacts.isEmpty ? try await nothingArchived(by: record) : "")
        let uploads = isHidden ? [:] : site.operations.uploads(of: id)
        view["triggers"] = .list(triggers.map { trigger($0, of: record, upload: uploads[$0.trigger]) })
        view["hasTriggers"] = .flag(!triggers.isEmpty)
        let isDone = record.state.word == "completed"
        view["isDone"] = .flag(isDone)
        var response = try await page(
            "integration", title: "\(id) \(record.state.result?.description ?? record.state.word)", section: "bots",
            watch: isDone ? nil : "integration \(id.bot) \(id.number)", view)
        if isClosed { response.forbidKeeping() }
        return response
    }

    private func nothingArchived(by record: IntegrationRecord) async throws -> String {
        guard let reason = try await site.whyNotArchived(record) else { return "Nothing was archived." }
        return reason.prefix(1).uppercased() + reason.dropFirst() + "."
    }

    /// Shows the commit, where it comes from, and when it was integrated.
    private func facts(of record: IntegrationRecord, _ links: IntegrationLinks) -> ViewObject {
        let id = record.id
        return [
            "bot": .text(id.bot), "number": .text(id.number), "subject": .text(Self.subject(record.subject)),
            "refKind": .text(record.ref.tag != nil ? "Tag" : record.ref.branch != nil ? "Branch" : "Ref"),
            "ref": .text(record.ref.shortName), "refHref": .text(links.ref), "baseHref": .text(links.base),
            "commit": .text(record.commit), "short": .text(record.headCommit.abbreviated),
            "commitHref": .text(links.commit), "comparisonHref": .text(links.comparison),
            "pull": .list(record.pull.map { [Self.pull($0, of: record, links)] } ?? []),
            "author": .text(record.author), "project": .text(record.recipe?.recognition?.sentence),
            "cause": .text(
                IntegrationSentence.cause(record.cause, pull: record.pull, requestedBy: record.requestedBy)),
            "queued": .text(record.queuedAt), "queuedText": .text(PageText.time(record.queuedAt)),
            "took": .text(took(record.startedAt, record.endedAt) ?? "not started"), "reason": .text(record.reason),
            "href": .text(Self.href(id)), "api": .text("/api/v1/bots/\(id.bot)/integrations/\(id.number)"),
            "summary": .list(record.summary.map(Self.summary) ?? []), "hasSummary": .flag(record.summary != nil),
        ]
    }

    /// Shows counts and their changes. The color of a change depends on the kind of count; its sign gives the same information.
    private static func summary(_ summary: Summary) -> [ViewObject] {
        func item(
            _ count: KeyPath<Counts, Int>, _ one: String, _ many: String, tone: String, moreIsWorse: Bool = true
        ) -> ViewObject {
            var (number, change) = (summary.counts[keyPath: count], summary.change[keyPath: count])
            // Each test counts once. The change counts each configuration's tests, and is left out if there are several.
            if let tally = summary.tally {
                switch count {
                case \.tests: number = tally.tests
                case \.testFailures: number = tally.failing
                case \.flakyTests: number = tally.flaky
                default: break
                }
                if number != summary.counts[keyPath: count] { change = 0 }
            }
            // A dash instead of `0 tests`: usually tests ran, but no report listed them.
            let isUnreported = count == \.tests && number == 0 && change == 0
            return [
                "count": .text(isUnreported ? "–" : number.grouped),
                "text": .text(number == 1 ? one : many),
                "tone": .text(number == 0 || !moreIsWorse ? "none" : tone), "change": .text(PageText.change(change)),
                "changeTone": .text((change > 0) == moreIsWorse ? "bad" : "good"),
            ]
        }
        return [
            item(\.errors, "error", "errors", tone: "bad"),
            item(\.warnings, "warning", "warnings", tone: "warn"),
            item(\.analyzerWarnings, "analyzer warning", "analyzer warnings", tone: "warn"),
            item(\.testFailures, "failing test", "failing tests", tone: "bad"),
            item(\.tests, "test", "tests", tone: "none", moreIsWorse: false),
        ]
            + (summary.counts.flakyTests == 0 && summary.change.flakyTests == 0
                ? [] : [item(\.flakyTests, "flaky test", "flaky tests", tone: "warn")])
    }

    private static func pull(
        _ pull: IntegratedPullRequest, of record: IntegrationRecord, _ links: IntegrationLinks
    ) -> ViewObject {
        let isMerge = record.commit != pull.head
        return [
            "name": .text("\(record.id.bot)!\(pull.number)"), "base": .text(pull.base.shortName),
            "head": .text(pull.head), "short": .text(pull.head.abbreviated), "refHref": .text(links.ref),
            "baseHref": .text(links.base), "commitHref": .text(links.commit), "comparisonHref": .text(links.comparison),
            "whose": .text(pull.source.map { "from \($0.shortName)" } ?? "from a fork"),
            "approved": .text(pull.approvedBy.map { "approved by \($0)" }), "unmerged": .text(pull.unmerged),
            "merge": .text(isMerge ? "merged into \(pull.baseCommit.abbreviated)" : nil),
        ]
    }

    private static func rerun(_ rerun: RerunRecord) -> ViewObject {
        var what = "everything"
        if rerun.isTriggersOnly { what = "the triggers" }
        if rerun.isFailedOnly { what = "the failed configurations" }
        if let filter = rerun.testFilter { what = "the tests \(filter)" + (rerun.isFailedOnly ? " of \(what)" : "") }
        return [
            "run": .text(rerun.run), "what": .text(what), "by": .text(rerun.requestedBy),
            "time": .text(rerun.requestedAt), "timeText": .text(PageText.time(rerun.requestedAt)),
        ]
    }

    /// Returns the configurations whose warnings are all muted. The integration's result ignores muted warnings, but a job's verdict is made
    /// without knowing them.
    private func silencedConfigurations(
        of id: IntegrationID, _ attempts: [AttemptRecord], _ issues: IssueOverview
    ) async throws -> Set<Name> {
        if issues.count(of: .silenced) == 0 { return [] }
        let warned = attempts.filter { [Verdict.warnings, .analyzerWarnings].contains($0.state.verdict) }
        return try await site.store.silencedConfigurations(of: id, among: warned.map(\.id.job))
    }

    /// Shows an attempt.
    /// - Parameters:
    ///   - all: Every attempt of its job; the page links to them.
    ///   - isAlone: Whether the integration has no other configuration. Its steps are shown then.
    private func configuration(
        _ attempt: AttemptRecord, of record: IntegrationRecord, beside all: [AttemptRecord], isSilenced: Bool,
        isAlone: Bool
    ) -> ViewObject {
        let page = "/bots/\(record.id.bot)/\(record.id.number)"
        let log = "\(page)/log/\(attempt.id.job)?attempt=\(attempt.id.attempt)"
        let tries: [ViewObject] = all.map { other in
            [
                "number": .text(other.id.attempt), "result": .list([ResultView(other.state).view]),
                "href": .text("\(page)?attempt=\(other.id.attempt)#configurations"),
                "isShown": .flag(other.id == attempt.id),
            ]
        }
        let start = attempt.startedAt ?? attempt.steps.first?.startedAt ?? attempt.queuedAt
        let end = attempt.endedAt ?? attempt.steps.last?.endedAt ?? site.clock()
        let whole = max(1, (end - start).milliseconds)
        let steps: [ViewObject] = attempt.steps.map { step in
            let (text, tone) = Self.end(of: step, in: attempt)
            let length = ((step.endedAt ?? site.clock()) - step.startedAt).milliseconds
            // Positions are in thousandths of the whole time.
            let left = min(
                1000, max(0, Int64(clamping: Double((step.startedAt - start).milliseconds) * 1000 / Double(whole))))
            let width = Int64(clamping: Double(length) * 1000 / Double(whole))
            return [
                "step": .text(step.step.rawValue), "name": .text(step.name), "end": .text(text), "tone": .text(tone),
                "href": .text("\(log)&step=\(step.index)"), "x": .text(left),
                "width": .text(max(4, min(1000 - left, width))),
                "took": .text(PageText.duration(.milliseconds(length))),
            ]
        }
        return [
            "name": .text(attempt.id.job), "result": .list([ResultView(attempt.state).view]),
            "tone": .text(ResultView(attempt.state).tone.rawValue),
            // What did not pass is open, and so is what runs.
            "isOpen": .flag(isAlone || !(attempt.state.verdict?.isPublishable ?? false)),
            "took": .text(took(attempt.startedAt ?? attempt.steps.first?.startedAt, attempt.endedAt) ?? ""),
            "analysis": .text(attempt.analysis), "tested": .text(attempt.tested),
            "silenced": .flag(isSilenced),
            "attempt": .text(all.count > 1 ? String(attempt.id.attempt) : nil), "log": .text(log),
            "hasTries": .flag(all.count > 1), "tries": .list(tries), "filter": .text(attempt.testFilter),
            "reason": .text(attempt.reason), "notes": .list(attempt.notes.map { ["text": .text($0)] }),
            "isolation": .text(attempt.isolation == .sandbox ? "sandboxed" : nil),
            "unfenced": .text(attempt.isolation?.reason), "steps": .list(steps), "hasSteps": .flag(!steps.isEmpty),
        ]
    }

    private static func end(of step: StepRecord, in attempt: AttemptRecord) -> (String, String) {
        let (text, tone) = end(of: step)
        // In a succeeded job no step's failure counts: a list of tests, or an analysis that prints its findings, may have failed.
        let isGreen = attempt.state.verdict.map { [.succeeded, .warnings, .analyzerWarnings].contains($0) } ?? false
        return tone == "bad" && isGreen ? ("\(text), not counted", "none") : (text, tone)
    }

    private static func end(of step: StepRecord) -> (String, String) {
        guard step.endedAt != nil else { return ("running", "busy") }
        if let limit = step.limit { return ("limit: \(limit)", "bad") }
        if let signal = step.signal { return ("signal \(signal)", "bad") }
        return step.exit == 0 ? ("ok", "good") : ("exit \(step.exit.map(String.init) ?? "?")", "bad")
    }

    private static func artifact(_ stored: StoredArtifact, attempt: Int?) -> ViewObject {
        [
            "path": .text(stored.artifact.path), "href": .text(ArtifactServer.path(of: stored, attempt: attempt)),
            "configuration": .text((stored.artifact.configuration ?? stored.attempt.job).description),
            "size": .text(stored.artifact.size), "sha256": .text(stored.artifact.sha256),
        ]
    }

    private func trigger(
        _ trigger: TriggerRecord, of record: IntegrationRecord, upload: UploadProgress?
    ) -> ViewObject {
        let took = trigger.endedAt.map { PageText.duration($0 - trigger.startedAt) }
        let place = LogServer.Subject(trigger: trigger.trigger).segment
        return [
            "name": .text(trigger.trigger), "phase": .text(trigger.phase.rawValue),
            "run": .text(record.run > 1 ? "run \(trigger.run)" : nil),
            "result": .list([ResultView(trigger.state).view]), "text": .text(trigger.reason ?? ""),
            "progress": .list(
                upload.flatMap { trigger.endedAt == nil ? [Self.progress($0)] : nil } ?? []),
            "took": .text(took ?? ""),
            "log": .text(
                trigger.log.map { _ in
                    "/bots/\(record.id.bot)/\(record.id.number)/log/\(place)?attempt=\(trigger.attempt)"
                }),
        ]
    }

    private static func progress(_ upload: UploadProgress) -> ViewObject {
        [
            "text": .text(upload.sentence), "bytes": .text(String(upload.bytes)),
            "size": .text(String(max(1, upload.size))),
        ]
    }
}
