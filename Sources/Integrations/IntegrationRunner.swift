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
            if record.state == .queued { record = try await store.apply(.started, to: id, at: clock.now()) }
            let stages = try await stages(of: record, cancellation: cancellation)
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
    }

    private func stages(of record: IntegrationRecord, cancellation: Cancellation) async throws -> End {
        // A bot whose file went away meanwhile: what is under way is brought to its end as the file last said.
        var specification = await registry.bot(record.id.bot)
        if specification == nil { specification = try await store.specification(of: record.id.bot) }
        guard let bot = specification else {
            return End(verdict: .canceled, reason: "the bot \(record.id.bot) was removed")
        }
        let mirror = try await remotes.mirror(for: bot)
        var record = record
        switch try await prepare(record, bot: bot, mirror: mirror) {
        case .ready(let prepared): record = prepared
        case .refused(let verdict, let reason): return End(verdict: verdict, reason: reason)
        }
        guard let recipe = record.recipe else {
            return End(verdict: .internalError, reason: "the recipe was not recorded")
        }
        if let reason = await cancellation.requested { return End(verdict: .canceled, reason: reason) }

        let context = TriggerRunner.Context(integration: record, bot: bot, mirror: mirror)
        if let triggers, bot.triggers.contains(where: { $0.phase == .before }) {
            try await enter(.beforeTriggers, &record)
            let before = try await triggers.run(.before, context, facts: nil, cancellation: cancellation)
            if before.hasFailed {
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
        let summary = try await compare(record, attempts: attempts)
        let reason = wish ?? attempts.first { $0.state.verdict == verdict && $0.reason != nil }?.reason
        guard !isCanceled else { return End(verdict: .canceled, reason: reason) }

        guard let triggers, bot.triggers.contains(where: { $0.phase == .after }) else {
            return End(verdict: verdict, reason: reason)
        }
        try await enter(.afterTriggers, &record)
        let facts = TriggerRunner.Facts(
            verdict: verdict, summary: summary, before: try await store.previous(of: record.id)?.state.verdict)
        let after = try await triggers.run(.after, context, facts: facts, cancellation: cancellation)
        if let wish = await cancellation.requested { return End(verdict: .canceled, reason: wish) }
        return End(verdict: verdict, triggerFailed: after.hasFailed, reason: reason ?? after.reason)
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

    /// Stores the integration's issues and counts, compared with the branch's integration before.
    private func compare(_ record: IntegrationRecord, attempts: [AttemptRecord]) async throws -> Summary {
        let tests = try await store.tests(of: record.id)
        var comparison = IssueComparison(configurations: [])
        var tested = 0
        for attempt in attempts {
            let results = tests.filter { $0.configuration == attempt.id.job }.map(\.result)
            comparison.configurations.append(
                .init(
                    name: attempt.id.job, steps: attempt.steps, findings: try await store.findings(of: attempt.id),
                    tests: results))
            tested += results.count { $0.outcome != .skipped }
        }
        let previous = try await store.previous(of: record.id)
        var before: [Issue] = []
        if let previous { before = try await store.issues(of: previous.id) }
        let issues = comparison.issues(before: before)
        let counts = Counts(issues, tests: tested)
        let summary = Summary(
            counts: counts, change: previous?.summary.map { counts - $0.counts } ?? Counts())
        try await store.completeIssues(of: record.id, issues: issues, summary: summary, at: clock.now())
        return summary
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
