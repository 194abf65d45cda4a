package import Logging
package import Model
import Settings
import SourceControl
package import Storage

/// The way of a commit: recipe, before-triggers, a job per configuration, verdict, after-triggers.
///
/// Every stage looks at what is stored and does what is missing, so that a daemon that was stopped anywhere is followed
/// by one that goes on from there. Nothing of an attempt is run twice.
package struct IntegrationRunner: Sendable {
    let store: Store
    let registry: BotRegistry
    let remotes: Remotes
    let jobs: JobRunner
    /// Nothing where no bot has triggers: a working tree's run.
    let triggers: TriggerRunner?
    let clock: WallClock
    /// For the pauses between tries.
    let timer: any Clock<Duration>
    let logger: Logger

    package init(
        store: Store, registry: BotRegistry, remotes: Remotes, jobs: JobRunner, triggers: TriggerRunner?,
        clock: WallClock, timer: any Clock<Duration>, logger: Logger
    ) {
        self.store = store
        self.registry = registry
        self.remotes = remotes
        self.jobs = jobs
        self.triggers = triggers
        self.clock = clock
        self.timer = timer
        self.logger = logger
    }

    /// Runs an integration to its end and stores it. Throws nothing: whatever goes wrong becomes its result.
    /// A task that is cancelled leaves it as it is, for the next daemon.
    /// - Returns: Whether its end is stored; if not, it is to be taken up again.
    package func run(_ id: IntegrationID, cancellation: Cancellation) async -> Bool {
        do {
            // The scheduler's reading may be older than the end of what it offers, and a person cancels what is queued.
            guard var record = try await store.integration(id), record.state.verdict == nil else { return true }
            guard let bot = try await specification(of: record) else {
                let reason = "the bot \(id.bot) was removed"
                try await store.apply(
                    .completed(.canceled, triggerFailed: false), to: id, at: clock.now(), reason: reason)
                return true
            }
            if record.state == .queued { record = try await store.begin(id, as: bot, at: clock.now()) }
            let stages = try await stages(of: record, bot: bot, cancellation: cancellation)
            let done = try await store.apply(
                .completed(stages.verdict, triggerFailed: stages.triggerFailed), to: id, at: clock.now(),
                reason: stages.reason)
            logger.info(
                "completed", metadata: ["integration": "\(id)", "result": "\(done.state.result?.description ?? "")"])
        } catch is CancellationError {
            logger.info("left for the next daemon", metadata: ["integration": "\(id)"])
            return false
        } catch {
            guard !Task.isCancelled else { return false }
            return await fail(id, with: error)
        }
        return true
    }

    private struct End {
        var verdict: Verdict
        var triggerFailed = false
        var reason: String?

        init(verdict: Verdict, triggerFailed: Bool = false, reason: String? = nil) {
            self.verdict = verdict
            self.triggerFailed = triggerFailed
            self.reason = reason
        }

        init(canceled wish: Cancellation.Wish) { self.init(verdict: .canceled, reason: wish.reason) }
    }

    /// What the bot's file said when this run began; before it begins, what it says now, or said last when it went away.
    private func specification(of record: IntegrationRecord) async throws -> BotSpecification? {
        if record.state != .queued, let recorded = try await store.specification(of: record.id) { return recorded }
        if let now = await registry.bot(record.id.bot) { return now }
        return try await store.specification(of: record.id.bot)
    }

    private func stages(
        of record: IntegrationRecord, bot: BotSpecification, cancellation: Cancellation
    ) async throws -> End {
        let mirror = try await remotes.mirror(for: bot)
        var record = record
        let preparing = record
        switch try await cancellation.interrupting({ try await prepare(preparing, bot: bot, mirror: mirror) }) {
        case .ready(let prepared): record = prepared
        case .refused(let verdict, let reason): return End(verdict: verdict, reason: reason)
        case nil: break
        }
        if let wish = await cancellation.requested { return End(canceled: wish) }
        guard let recipe = record.recipe else {
            return End(verdict: .internalError, reason: "the recipe was not recorded")
        }
        let rerun = try await store.reruns(of: record.id).first { $0.run == record.run }

        let context = TriggerRunner.Context(integration: record, bot: bot, mirror: mirror)
        // They make ready what the jobs need, so without jobs there is nothing to make ready.
        if let triggers, bot.triggers.contains(where: { $0.phase == .before }), rerun?.isTriggersOnly != true {
            try await enter(.beforeTriggers, &record)
            let before = try await triggers.run(.before, context, facts: nil, cancellation: cancellation)
            if let wish = await cancellation.requested { return End(canceled: wish) }
            if before.hasFailed {
                try await compareTriggers(record, bot: bot)
                return End(
                    verdict: .canceled, triggerFailed: true, reason: before.reason ?? "a trigger before it failed")
            }
        }
        try await enter(.running, &record)
        let attempts = try await runJobs(record, bot: bot, recipe: recipe, mirror: mirror, cancellation: cancellation)
        let wish = await cancellation.requested
        // One canceled job makes the whole canceled: the verdicts' order would hide it behind another's success.
        let isCanceled = wish != nil || attempts.contains { $0.state.verdict == .canceled }
        let verdict = isCanceled ? .canceled : Verdict.worst(of: attempts.compactMap(\.state.verdict))
        let comparison = try await compare(record, bot: bot, attempts: attempts)
        let reason = wish?.reason ?? attempts.first { $0.state.verdict == verdict && $0.reason != nil }?.reason
        guard !isCanceled else { return End(verdict: .canceled, reason: reason) }

        guard let triggers, bot.triggers.contains(where: { $0.phase == .after }) else {
            return End(verdict: verdict, reason: reason)
        }
        if rerun?.testFilter != nil {
            return End(
                verdict: verdict, triggerFailed: try await hasFailedTrigger(record),
                reason: reason ?? Self.filteredReason)
        }
        try await enter(.afterTriggers, &record)
        if let newer = record.supersededBy {
            // Marked before it entered, so that it has to end before its triggers act.
            return End(
                verdict: .canceled, reason: "superseded by \(newer), a newer commit of \(record.ref.shortName)")
        }
        let facts = TriggerRunner.Facts(
            verdict: verdict, summary: comparison.summary,
            before: try await store.previous(of: record.id)?.state.verdict)
        let after = try await triggers.run(.after, context, facts: facts, cancellation: cancellation)
        if let wish = await cancellation.requested { return End(canceled: wish) }
        // What the triggers came to, or mended, is an issue like any other.
        if after.hasFailed || comparison.hasTriggerErrors {
            _ = try await compare(record, bot: bot, attempts: attempts)
        }
        return End(verdict: verdict, triggerFailed: after.hasFailed, reason: reason ?? after.reason)
    }

    /// What a rerun of some tests says of its triggers.
    static let filteredReason =
        "the triggers were not run again, since only some tests were; rerun --triggers runs them"

    private func hasFailedTrigger(_ record: IntegrationRecord) async throws -> Bool {
        try await store.triggers(of: record.id).newest.contains { $0.state == .failed }
    }

    private func enter(_ step: IntegrationStep, _ record: inout IntegrationRecord) async throws {
        record = try await store.apply(.entered(step), to: record.id, at: clock.now())
    }

    private func runJobs(
        _ record: IntegrationRecord, bot: BotSpecification, recipe: Recipe, mirror: Mirror, cancellation: Cancellation
    ) async throws -> [AttemptRecord] {
        let earlier = try await earlierTests(before: record, configurations: recipe.configurations.map(\.name))
        return try await withThrowingTaskGroup(of: Result<AttemptRecord, any Error>.self) { group in
            for configuration in recipe.configurations {
                let request = JobRunner.Request(
                    integration: record, bot: bot, recipe: recipe, configuration: configuration, mirror: mirror,
                    previousTests: earlier[configuration.name])
                group.addTask {
                    do {
                        return .success(try await jobs.run(request, cancellation: cancellation))
                    } catch {
                        return .failure(error)
                    }
                }
            }
            // Every job is brought to its end, also beside one that failed by our fault.
            var results: [Result<AttemptRecord, any Error>] = []
            for try await result in group { results.append(result) }
            return try results.map { try $0.get() }.sorted { $0.id.job < $1.id.job }
        }
    }

    /// How far back a configuration's last tests are looked for.
    private static let maximumLookBack = 20

    /// How many tests each configuration had when it last had any on this branch.
    private func earlierTests(
        before record: IntegrationRecord, configurations: [Name]
    ) async throws -> [Name: Int] {
        var counts: [Name: Int] = [:]
        var earlier = try await store.previous(of: record.id)
        for _ in 0..<Self.maximumLookBack {
            guard let integration = earlier, counts.count < configurations.count else { break }
            let ran = try await store.tests(of: integration.id).filter { $0.result.outcome != .skipped }
            for (configuration, tests) in Dictionary(grouping: ran, by: \.configuration)
            where counts[configuration] == nil { counts[configuration] = tests.count }
            earlier = try await store.previous(of: integration.id)
        }
        return counts
    }

    /// Stores what triggers before the jobs came to. Nothing else was looked for, so what was there before remains.
    private func compareTriggers(_ record: IntegrationRecord, bot: BotSpecification) async throws {
        let comparison = IssueComparison(
            configurations: [], triggers: try await store.triggers(of: record.id).newest,
            triggerNames: bot.triggers.map(\.name))
        try await complete(record, comparison, tested: 0, hasLookedAtCode: false)
    }

    /// Stores the integration's issues and counts, compared with the branch's integration before.
    private func compare(
        _ record: IntegrationRecord, bot: BotSpecification, attempts: [AttemptRecord]
    ) async throws -> Comparison {
        let tests = try await store.tests(of: record.id)
        var comparison = IssueComparison(
            configurations: [], triggers: try await store.triggers(of: record.id).newest,
            triggerNames: bot.triggers.map(\.name))
        var tested = 0
        for attempt in attempts {
            let results = tests.filter { $0.configuration == attempt.id.job }.map(\.result)
            comparison.configurations.append(
                .init(
                    name: attempt.id.job, steps: attempt.steps, findings: try await store.findings(of: attempt.id),
                    tests: results))
            tested += results.count { $0.outcome != .skipped }
        }
        return try await complete(record, comparison, tested: tested, hasLookedAtCode: true)
    }

    private struct Comparison {
        var summary: Summary
        var hasTriggerErrors: Bool
    }

    @discardableResult
    private func complete(
        _ record: IntegrationRecord, _ comparison: IssueComparison, tested: Int, hasLookedAtCode: Bool
    ) async throws -> Comparison {
        let previous = try await store.previous(of: record.id)
        var before: [Issue] = []
        if let previous { before = try await store.issues(of: previous.id) }
        let issues = comparison.issues(before: before, hasLookedAtCode: hasLookedAtCode)
        let counts = Counts(issues, tests: tested)
        let summary = Summary(
            counts: counts, change: previous?.summary.map { counts - $0.counts } ?? Counts())
        try await store.completeIssues(of: record.id, issues: issues, summary: summary, at: clock.now())
        return Comparison(
            summary: summary, hasTriggerErrors: issues.contains { $0.finding.category == .triggerError })
    }
}

extension Counts {
    /// Counts issues that are there: not the resolved ones.
    init(_ issues: [Issue], tests: Int) {
        self.init()
        self.tests = tests
        for issue in issues where issue.status != .resolved { add(issue.finding) }
    }

    mutating func add(_ finding: Finding) {
        switch finding.category {
        case .error: errors += 1
        case .warning: warnings += 1
        case .analyzerWarning: analyzerWarnings += 1
        case .testFailure: testFailures += 1
        case .triggerError: break
        }
    }
}
