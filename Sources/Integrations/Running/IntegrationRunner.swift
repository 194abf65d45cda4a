package import Basics
import Issues
package import Jobs
package import Logging
package import Model
import Settings
import SourceControl
package import Storage

/// Runs an integration through all stages: recipe, before-triggers, a job per configuration, verdict, after-triggers.
///
/// Every stage reads the stored state and does what is missing, so a later daemon continues where an earlier one was stopped. No part of an attempt
/// runs twice.
package struct IntegrationRunner: Sendable {
    let store: Store
    let registry: BotRegistry
    let remotes: Remotes
    let jobs: JobRunner
    /// The runner of triggers; `nil` if no bot has triggers, as in a run of a working tree.
    let triggers: TriggerRunner?
    let circuitBreaker: CircuitBreaker
    let clock: WallClock
    let logger: Logger
    let recipes = CommitRecipe()
    /// Whether the commits that introduced new issues are searched. The snapshots of a working tree have no commits to blame.
    let findsSuspects: Bool
    private let marks: CrashMarks?

    package init(
        store: Store, registry: BotRegistry, remotes: Remotes, jobs: JobRunner, triggers: TriggerRunner?,
        circuitBreaker: CircuitBreaker, clock: WallClock, logger: Logger, findsSuspects: Bool = true,
        marks: CrashMarks? = nil
    ) {
        self.marks = marks
        self.findsSuspects = findsSuspects
        self.store = store
        self.registry = registry
        self.remotes = remotes
        self.jobs = jobs
        self.triggers = triggers
        self.circuitBreaker = circuitBreaker
        self.clock = clock
        self.logger = logger
    }

    /// The outcome of `run`.
    package enum Ending: Sendable, Hashable {
        /// The integration has ended, and its result is stored.
        case stored
        /// The result could not be stored, or the daemon stops. The integration is to be continued later.
        case left
        /// The integration waits until `CircuitBreaker.permitsRequest` permits requests to this server.
        case awaits(server: String)
    }

    /// Runs an integration to its end and stores the result. Does not throw: every failure becomes the integration's result. If the task is canceled,
    /// the integration stays as it is for the next daemon.
    package func run(_ id: IntegrationID, cancellation: Cancellation) async -> Ending {
        guard let marks else { return await advance(id, cancellation) }
        let subject = "integration \(id)"
        if let reason = marks.reason(for: subject) { return await abandon(id, reason) }
        return await marks.during(subject) { await advance(id, cancellation) }
    }

    /// Fails an integration that has crashed the daemon repeatedly.
    private func abandon(_ id: IntegrationID, _ reason: String) async -> Ending {
        do {
            guard try await store.takeUp(id, as: await registry.bot(id.bot), with: nil, at: clock.now()) != nil else {
                return .stored
            }
            try await endLeftAlone(id)
            try await store(End(verdict: .internalError, reason: reason), of: id)
            logger.error("left alone", metadata: ["integration": "\(id)", "reason": "\(reason)"])
            return .stored
        } catch is CancellationError {
            return .left
        } catch {
            logger.error(
                "left unchanged, because its record could not be stored",
                metadata: ["integration": "\(id)", "error": "\(error)"])
            return .left
        }
    }

    /// Ends the integration's jobs, unless doing so has crashed the daemon repeatedly.
    private func endLeftAlone(_ id: IntegrationID) async throws {
        guard let marks else { return }
        let subject = "jobs of integration \(id)"
        guard marks.reason(for: subject) == nil else { return }
        let ended = await marks.during(subject) { () async -> Result<Void, any Error> in
            do {
                return .success(try await jobs.endLeft(of: id))
            } catch {
                return .failure(error)
            }
        }
        try ended.get()
    }

    private func advance(_ id: IntegrationID, _ cancellation: Cancellation) async -> Ending {
        // The scheduler may have read the integration before its end was stored, and a user can cancel a queued one.
        let now = await registry.bot(id.bot)
        let preparation = if let now { await readEarly(id, bot: now) } else { Store.Preparation?.none }
        do {
            guard let begun = try await store.takeUp(id, as: now, with: preparation, at: clock.now()) else {
                return .stored
            }
            guard let bot = begun.specification else {
                let reason = "the bot \(id.bot) was removed"
                try await jobs.endLeft(of: id)
                try await store.apply(
                    .completed(.canceled, triggerFailed: false), to: id, at: clock.now(), reason: reason)
                return .stored
            }
            var run = Run(
                record: begun.integration, bot: bot, mirror: try await remotes.mirror(for: bot),
                cancellation: cancellation,
                // The recipe was read just now, and stored with the start of the integration.
                isPrepared: preparation != nil && begun.integration.run == 1 && begun.integration.recipe != nil)
            let end = try await stages(of: &run)
            try await jobs.endLeft(of: id)
            try await store(end, of: id)
            let result = IntegrationResult(verdict: end.verdict, triggerFailed: end.triggerFailed)
            logger.info("completed", metadata: ["integration": "\(id)", "result": "\(result)"])
        } catch is CancellationError {
            logger.info("left for the next daemon", metadata: ["integration": "\(id)"])
            return .left
        } catch let awaited as ServerAwaited {
            return Task.isCancelled ? .left : .awaits(server: awaited.server)
        } catch let error where jobs.mustWait(after: error) {
            // The stored state stays valid, and each stage does what is missing.
            logger.warning(
                "the result of an integration could not be stored; Martlet tries again",
                metadata: ["integration": "\(id)", "error": "\(error)"])
            return .left
        } catch {
            guard !Task.isCancelled else { return .left }
            return await fail(id, with: error) ? .stored : .left
        }
        return .stored
    }

    private struct End {
        var verdict: Verdict
        var triggerFailed = false
        var reason: String?
        /// The commit of an integration that is skipped.
        var skipped: CommitSummary?
        /// The comparison to store with the end; `nil` if it is stored already, or if there is none.
        var comparison: ComparedIssues?

        init(
            verdict: Verdict, triggerFailed: Bool = false, reason: String? = nil, comparison: ComparedIssues? = nil
        ) {
            self.verdict = verdict
            self.triggerFailed = triggerFailed
            self.reason = reason
            self.comparison = comparison
        }

        init(canceled cancelRequest: Cancellation.Request) {
            self.init(verdict: .canceled, reason: cancelRequest.reason)
        }
    }

    private func store(_ end: End, of id: IntegrationID) async throws {
        let completed = IntegrationState.Event.completed(end.verdict, triggerFailed: end.triggerFailed)
        if let commit = end.skipped {
            try await store.skip(id, reason: end.reason ?? "", commit: commit, at: clock.now())
        } else if let comparison = end.comparison {
            try await store.completeIssues(
                of: id, issues: comparison.issues, summary: comparison.summary, at: clock.now(), with: completed,
                reason: end.reason)
        } else {
            try await store.apply(completed, to: id, at: clock.now(), reason: end.reason)
        }
    }

    /// The state of one run of an integration, passed from stage to stage.
    private struct Run {
        var record: IntegrationRecord
        let bot: BotSpecification
        let mirror: Mirror
        let cancellation: Cancellation
        /// Whether the recipe was stored with the start of this run, just now. The commit then has no submodules.
        let isPrepared: Bool
        /// The request for this run; `nil` in the first run.
        var rerun: RerunRecord?
        /// The last attempt of each job. Empty until all jobs have ended.
        var attempts: [AttemptRecord] = []

        /// Whether an earlier daemon has started its jobs.
        var hasBegunJobs: Bool { ![.preparing, .beforeTriggers].contains(record.state.step) }
        var hasBegunTriggers: Bool { [.afterTriggers, .uploading].contains(record.state.step) }

        func has(_ phase: Trigger.Phase) -> Bool { bot.triggers.contains { $0.phase == phase } }
    }

    /// Runs the stages of a started integration: its recipe, the triggers before its jobs, the jobs, the verdict, and the triggers after them. A
    /// stage that ends the integration returns its end.
    private func stages(of run: inout Run) async throws -> End {
        if let end = try await prepare(&run) { return end }
        try await recordParting(of: run.record, run.mirror)
        let begun = run
        if let end = try await runTriggersBefore(&run) { return end }
        try await runJobs(&run)
        let judged = try await judge(run)
        // Triggers that have started are ended in order, even if the integration was canceled meanwhile.
        guard !judged.isCanceled || begun.hasBegunTriggers, run.has(.after), let triggers = triggers(of: run) else {
            return judged.end
        }
        return try await runTriggersAfter(&run, triggers, consume judged)
    }

    /// Stores the recipe and the jobs, unless an earlier daemon or the start of this run has stored them. Returns an end if the integration cannot or
    /// need not run.
    private func prepare(_ run: inout Run) async throws -> End? {
        if !run.isPrepared {
            let (record, bot, mirror) = (run.record, run.bot, run.mirror)
            let preparation = try await run.cancellation.interrupting {
                try await prepareWithRoom(record, bot: bot, mirror: mirror)
            }
            switch preparation {
            case .ready(let prepared): run.record = prepared
            case .refused(let verdict, let reason): return End(verdict: verdict, reason: reason)
            case .skipped(let reason, let commit):
                var end = End(verdict: .canceled, reason: reason)
                end.skipped = commit
                return end
            case nil: run.record = try await store.integration(record.id) ?? record
            }
        }
        // The stage of queued jobs, or of jobs that run since before a restart, ends them itself.
        if run.record.state == .running(.preparing), let cancelRequest = await run.cancellation.requested {
            return End(canceled: cancelRequest)
        }
        guard run.record.recipe != nil else {
            return End(verdict: .internalError, reason: "the recipe was not recorded")
        }
        if run.record.run > 1 {
            run.rerun = try await store.reruns(of: run.record.id).first { $0.run == run.record.run }
        }
        return nil
    }

    /// Returns the runner of triggers. `nil` for every pull request: no trigger acts on unmerged code.
    private func triggers(of run: Run) -> TriggerRunner? { run.record.pull == nil ? triggers : nil }

    private static func context(of run: Run) -> TriggerRunner.Context {
        TriggerRunner.Context(integration: run.record, bot: run.bot, mirror: run.mirror)
    }

    /// Runs the triggers that prepare what the jobs need. They do not run if the jobs do not.
    private func runTriggersBefore(_ run: inout Run) async throws -> End? {
        guard let triggers = triggers(of: run), !run.hasBegunJobs, run.has(.before), run.rerun?.isTriggersOnly != true
        else { return nil }
        let context = Self.context(of: run)
        try await enter(.beforeTriggers, &run.record)
        let outcome = try await triggers.run(.before, context, facts: nil, cancellation: run.cancellation)
        if let cancelRequest = await run.cancellation.requested { return End(canceled: cancelRequest) }
        guard outcome.hasFailed else { return nil }
        return End(
            verdict: .canceled, triggerFailed: true, reason: outcome.reason ?? "a trigger before it failed",
            comparison: try await compareTriggers(run.record, bot: run.bot, mirror: run.mirror))
    }

    /// Runs a job for each configuration, all at the same time. Each runs to its end, even if another fails by the service's fault.
    private func runJobs(_ run: inout Run) async throws {
        if !run.hasBegunJobs { try await enter(.running, &run.record) }
        guard let recipe = run.record.recipe else { return }
        let requests = recipe.configurations.map { configuration in
            JobRunner.Request(
                integration: run.record, bot: run.bot, recipe: recipe, configuration: configuration, mirror: run.mirror,
                remotes: remotes, isWithoutSubmodules: run.isPrepared)
        }
        let cancellation = run.cancellation
        run.attempts = try await withThrowingTaskGroup(of: Result<AttemptRecord, any Error>.self) { group in
            for request in requests {
                group.addTask {
                    do {
                        return .success(try await jobs.run(request, cancellation: cancellation))
                    } catch {
                        return .failure(error)
                    }
                }
            }
            var results: [Result<AttemptRecord, any Error>] = []
            for try await result in group { results.append(result) }
            return try results.map { try $0.get() }.sorted { $0.id.job < $1.id.job }
        }
    }

    /// The results of the jobs.
    private struct Judgment {
        /// The worst verdict of the jobs, without regard to cancellation.
        var worst: Verdict
        var isCanceled: Bool
        var comparison: ComparedIssues
        var reason: String?
        var verdict: Verdict { isCanceled ? .canceled : worst }
        /// The end of the integration if no trigger follows.
        var end: End { End(verdict: verdict, reason: reason, comparison: comparison) }
    }

    /// Compares the findings with the previous integration, and decides the verdict.
    private func judge(_ run: Run) async throws -> Judgment {
        let cancelRequest = await run.cancellation.requested
        let comparison = try await compare(run.record, bot: run.bot, mirror: run.mirror, attempts: run.attempts)
        let (worst, silenced) = comparison.judged(Verdict.worst(of: run.attempts.compactMap(\.state.verdict)))
        // One canceled job cancels the whole integration. Without this rule the order of verdicts would hide it behind another job's success.
        let isCanceled = cancelRequest != nil || run.attempts.contains { $0.state.verdict == .canceled }
        var judgment = Judgment(worst: worst, isCanceled: isCanceled, comparison: comparison)
        let verdict = judgment.verdict
        judgment.reason =
            cancelRequest?.reason ?? run.attempts.first { $0.state.verdict == verdict && $0.reason != nil }?.reason
            ?? silenced
        return judgment
    }

    /// Runs the triggers that act on the verdict.
    private func runTriggersAfter(
        _ run: inout Run, _ triggers: TriggerRunner, _ judged: consuming Judgment
    ) async throws -> End {
        let (verdict, worst, reason) = (judged.verdict, judged.worst, judged.reason)
        let comparison = judged.comparison
        _ = consume judged
        if run.rerun?.testFilter != nil {
            return End(
                verdict: verdict, triggerFailed: try await hasFailedTrigger(run.record),
                reason: reason.map { verdict.isPublishable ? "\($0); \(Self.filteredReason)" : $0 }
                    ?? Self.filteredReason,
                comparison: comparison)
        }
        try await store.completeIssues(
            of: run.record.id, issues: comparison.issues, summary: comparison.summary, at: clock.now())
        let context = Self.context(of: run)
        try await enter(.afterTriggers, &run.record)
        if let newer = run.record.supersededBy {
            // A newer commit superseded it before this stage, so it has to end before its triggers act.
            return End(verdict: .canceled, reason: Store.supersededReason(by: newer, ref: run.record.ref))
        }
        let facts = TriggerRunner.Facts(
            verdict: worst, summary: comparison.summary,
            before: try await store.previous(of: run.record.id)?.state.verdict, isUntested: comparison.isUntested)
        // Only this much of the comparison is kept: 100,000 issues take tens of MB, and triggers can run for an hour.
        let (introductions, hasTriggerErrors) = (comparison.introductions, comparison.hasTriggerErrors)
        _ = consume comparison
        let outcome = try await triggers.run(.after, context, facts: facts, cancellation: run.cancellation)
        if let cancelRequest = await run.cancellation.requested { return End(canceled: cancelRequest) }
        // A failed trigger, or one that succeeds again, changes the issues.
        let isNew = outcome.hasFailed || hasTriggerErrors
        return End(
            verdict: verdict, triggerFailed: outcome.hasFailed, reason: reason ?? outcome.reason,
            comparison: isNew
                ? try await compare(
                    run.record, bot: run.bot, mirror: run.mirror, attempts: run.attempts,
                    introductions: introductions) : nil)
    }

    /// The reason for a rerun of only some tests that its triggers did not run.
    static let filteredReason =
        "the triggers were not run again, since only some tests were; rerun --triggers runs them"

    private func hasFailedTrigger(_ record: IntegrationRecord) async throws -> Bool {
        try await store.triggers(of: record.id).newest.contains { $0.state == .failed }
    }

    private func enter(_ step: IntegrationStep, _ record: inout IntegrationRecord) async throws {
        record = try await store.apply(.entered(step), to: record.id, at: clock.now())
    }
}
