import API
import Model
import Storage

extension API.Time {
    init(_ time: Timestamp) { self.init(time.description) }

    /// Creates a moment; `nil` from `nil`.
    init?(_ time: Timestamp?) {
        guard let time else { return nil }
        self.init(time)
    }

    /// Returns the time between two moments, in seconds; `nil` if one of them is unknown.
    static func seconds(from start: Timestamp?, to end: Timestamp?) -> Double? {
        guard let start, let end else { return nil }
        return (end - start).seconds
    }
}

extension API.List {
    /// Creates a page from the row number at which the next page begins.
    init(_ items: [Item], next: Int64? = nil) { self.init(items: items, next: next.map(String.init)) }
}

extension API.Bot {
    /// - Parameters:
    ///   - specification: The bot's file; `nil` for a retired bot.
    ///   - nextScheduled: When the schedule next queues an integration; `nil` without a schedule.
    ///   - pause: The bot's own pause; `nil` if it is not paused.
    ///   - root: The service's URL.
    init(
        _ bot: BotRecord, specification: BotSpecification?, nextScheduled: Timestamp?, pause: Storage.Pause?,
        root: String
    ) {
        let repository = bot.repositoryState
        self.init(
            name: bot.name.description, url: "\(root)/bots/\(bot.name)", repository: Pages.withoutUser(bot.repository),
            branches: specification?.branches.map { $0.map(\.description) },
            tags: (specification?.tags ?? []).map(\.description),
            product: (specification?.product ?? bot.name).description, retired: bot.isRetired,
            schedule: specification?.schedule?.sentence, nextScheduled: API.Time(nextScheduled),
            latest: bot.latest.map { API.Integration($0, root: root) }, lookedAt: API.Time(repository?.lastScan),
            lookError: repository?.lastError, empty: repository?.isEmpty ?? false,
            pause: pause.map { API.Pause($0) })
    }
}

extension API.Integration {
    /// - Parameter root: The service's URL; `nil` for a run without a service.
    init(_ integration: IntegrationOutline, root: String?) {
        self.init(integration, step: integration.state.step.rawValue, root: root)
    }

    fileprivate init(_ integration: IntegrationOutline, step: String, root: String?) {
        self.init(
            id: integration.id.description,
            url: root.map { "\($0)/bots/\(integration.id.bot)/\(integration.id.number)" },
            bot: integration.id.bot.description, number: integration.id.number,
            commit: integration.commit.description, ref: integration.ref.description,
            base: integration.pull?.base.description, head: integration.pull?.head.description,
            pullRequest: integration.pull.map { PullRequest($0) }, cause: integration.cause.rawValue,
            requestedBy: integration.requestedBy, subject: integration.subject, author: integration.author,
            project: integration.project, state: integration.state.word, step: step,
            verdict: integration.state.verdict?.rawValue, result: integration.state.result?.description,
            skipped: integration.isSkipped, reason: integration.reason, queued: API.Time(integration.queuedAt),
            started: API.Time(integration.startedAt), ended: API.Time(integration.endedAt),
            duration: API.Time.seconds(from: integration.startedAt, to: integration.endedAt), run: integration.run,
            supersededBy: integration.supersededBy?.description, summary: integration.summary.map { API.Summary($0) })
    }
}

extension API.Integration.PullRequest {
    init(_ pull: IntegratedPullRequest) {
        self.init(
            number: pull.number, trusted: pull.isTrusted, source: pull.source?.description,
            baseCommit: pull.baseCommit.description, approvedBy: pull.approvedBy, unmerged: pull.unmerged)
    }
}

extension API.IntegrationDetail {
    /// - Parameters:
    ///   - attempts: The attempt to show of each job.
    ///   - all: Every attempt. Each configuration lists its own.
    init(
        _ integration: IntegrationRecord, attempts: [AttemptRecord], all: [AttemptRecord] = [],
        reruns: [RerunRecord] = [], forge: API.ForgePages? = nil, root: String?
    ) {
        let state = integration.state
        let step = state.step == .running ? attempts.leastAdvancedStep?.rawValue : nil
        self.init(
            integration: API.Integration(integration.outline, step: step ?? state.step.rawValue, root: root),
            reruns: reruns.map { API.Rerun($0) },
            configurations: attempts.map { shown in
                API.Configuration(shown, beside: all.filter { $0.id.job == shown.id.job }, root: root)
            }, forge: forge)
    }
}

extension API.Rerun {
    init(_ rerun: RerunRecord) {
        self.init(
            run: rerun.run, requestedBy: rerun.requestedBy, requested: API.Time(rerun.requestedAt),
            failed: rerun.isFailedOnly, tests: rerun.testFilter, triggers: rerun.isTriggersOnly)
    }
}

extension API.Summary {
    init(_ summary: Model.Summary) {
        let (counts, change) = (summary.counts, summary.change)
        self.init(
            errors: counts.errors, warnings: counts.warnings, analyzerWarnings: counts.analyzerWarnings,
            testFailures: counts.testFailures, tests: counts.tests, flakyTests: counts.flakyTests,
            errorsChange: change.errors, warningsChange: change.warnings,
            analyzerWarningsChange: change.analyzerWarnings, testFailuresChange: change.testFailures,
            testsChange: change.tests, flakyTestsChange: change.flakyTests,
            tally: summary.tally.map {
                Tally(
                    tests: $0.tests, configurations: $0.configurations, failing: $0.failing, flaky: $0.flaky,
                    skipped: $0.skipped, says: $0.sentence)
            })
    }
}

extension API.Configuration {
    /// - Parameter all: Every attempt of the job.
    init(_ attempt: AttemptRecord, beside all: [AttemptRecord], root: String?) {
        let page = attempt.id.integration
        let step: String? = if case .running(let step) = attempt.state { step.rawValue } else { nil }
        self.init(
            name: attempt.id.job.description, attempt: attempt.id.attempt, run: attempt.run,
            testFilter: attempt.testFilter, state: attempt.state.word, step: step,
            verdict: attempt.state.verdict?.rawValue, reason: attempt.reason, analysis: attempt.analysis,
            tested: attempt.tested, isolation: attempt.isolation?.word, isolationReason: attempt.isolation?.reason,
            notes: attempt.notes, queued: API.Time(attempt.queuedAt), started: API.Time(attempt.startedAt),
            ended: API.Time(attempt.endedAt),
            duration: API.Time.seconds(from: attempt.startedAt, to: attempt.endedAt),
            url: root.map {
                "\($0)/bots/\(page.bot)/\(page.number)/log/\(attempt.id.job)?attempt=\(attempt.id.attempt)"
            }, steps: attempt.steps.map { Step($0) },
            summary: attempt.summary.map { API.Summary($0) }, attempts: all.map { Attempt($0) })
    }
}

extension API.Configuration.Step {
    init(_ step: StepRecord) {
        self.init(
            step: step.step.rawValue, name: step.name, started: API.Time(step.startedAt),
            ended: API.Time(step.endedAt), duration: step.endedAt.map { ($0 - step.startedAt).seconds },
            exit: step.exit, signal: step.signal, limit: step.limit)
    }
}

extension API.Configuration.Attempt {
    init(_ attempt: AttemptRecord) {
        self.init(
            attempt: attempt.id.attempt, run: attempt.run, state: attempt.state.word,
            verdict: attempt.state.verdict?.rawValue, reason: attempt.reason, testFilter: attempt.testFilter,
            tested: attempt.tested, started: API.Time(attempt.startedAt), ended: API.Time(attempt.endedAt),
            duration: API.Time.seconds(from: attempt.startedAt, to: attempt.endedAt))
    }
}
