package import Basics
package import Logging
package import Model
import Settings
import SourceControl
package import Storage

/// Takes a commit through all stages: recipe, before-triggers, a job per configuration, verdict, after-triggers.
///
/// Every stage reads what is stored and does what is missing, so a later daemon continues wherever one was stopped. No part of an attempt runs
/// twice.
package struct IntegrationRunner: Sendable {
    let store: Store
    let registry: BotRegistry
    let remotes: Remotes
    let jobs: JobRunner
    /// `nil` if no bot has triggers: in a run of a working tree.
    let triggers: TriggerRunner?
    let outages: Outages
    let clock: WallClock
    let logger: Logger
    let recipes = RecipeMemory()
    /// Whether new issues are looked for in the commits; a working tree's snapshots are nobody's.
    let findsSuspects: Bool
    private let marks: CrashMarks?

    package init(
        store: Store, registry: BotRegistry, remotes: Remotes, jobs: JobRunner, triggers: TriggerRunner?,
        outages: Outages, clock: WallClock, logger: Logger, findsSuspects: Bool = true,
        marks: CrashMarks? = nil
    ) {
        self.marks = marks
        self.findsSuspects = findsSuspects
        self.store = store
        self.registry = registry
        self.remotes = remotes
        self.jobs = jobs
        self.triggers = triggers
        self.outages = outages
        self.clock = clock
        self.logger = logger
    }

    /// How far `run` has brought an integration.
    package enum Ending: Sendable, Hashable {
        /// To its end, which is stored.
        case stored
        /// Its end could not be stored, or the daemon stops: it is to be taken up again.
        case left
        /// It waits until `Outages.mayAsk` this server.
        case awaits(server: String)
    }

    /// Runs an integration to its end and stores it. Does not throw: every failure becomes its result. A canceled task leaves the integration as it
    /// is, for the next daemon.
    package func run(_ id: IntegrationID, cancellation: Cancellation) async -> Ending {
        guard let marks else { return await bring(id, cancellation) }
        let subject = "integration \(id)"
        if let reason = marks.reason(for: subject) { return await leaveAlone(id, reason) }
        return await marks.during(subject) { await bring(id, cancellation) }
    }

    /// Ends what ended the daemon each time it was worked on.
    private func leaveAlone(_ id: IntegrationID, _ reason: String) async -> Ending {
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
                "left alone, which could not be stored", metadata: ["integration": "\(id)", "error": "\(error)"])
            return .left
        }
    }

    /// Ends its jobs, unless that is what ends the daemon.
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

    private func bring(_ id: IntegrationID, _ cancellation: Cancellation) async -> Ending {
        // The scheduler may have read it before its end was stored, and a user can cancel a queued one.
        let now = await registry.bot(id.bot)
        let early = EarlyJobs(jobs)
        var preparation: Store.Preparation?
        if let now, var read = await readEarly(id, bot: now) {
            early.begin(
                read.record, &read.preparation, bot: now, mirror: read.mirror, remotes: remotes,
                isWithoutSubmodules: true, cancellation: cancellation)
            preparation = read.preparation
        }
        let ending = await bring(id, as: now, preparation, early, cancellation)
        await early.giveBack()
        return ending
    }

    /// - Parameters:
    ///   - now: The bot of the current bot file; `nil` if there is none.
    ///   - preparation: The parts that are stored with its beginning, as far as they are already known.
    ///   - early: The jobs that are being prepared meanwhile; the caller gives unused ones back.
    private func bring(
        _ id: IntegrationID, as now: BotSpecification?, _ preparation: Store.Preparation?, _ early: EarlyJobs,
        _ cancellation: Cancellation
    ) async -> Ending {
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
            // Read a moment ago, and stored with the beginning.
            let isPrepared = preparation != nil && begun.integration.run == 1 && begun.integration.recipe != nil
            if !isPrepared { await early.giveBack() }
            let end = try await stages(
                of: begun.integration, isPrepared: isPrepared, early, bot: bot, cancellation: cancellation)
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
            // What is stored stays true, and each stage does what is missing.
            logger.warning(
                "what an integration came to could not be stored; it is tried again",
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
        /// What is stored with it; `nil`: it was stored before, or there is nothing to store.
        var comparison: Comparison?

        init(
            verdict: Verdict, triggerFailed: Bool = false, reason: String? = nil, comparison: Comparison? = nil
        ) {
            self.verdict = verdict
            self.triggerFailed = triggerFailed
            self.reason = reason
            self.comparison = comparison
        }

        init(canceled wish: Cancellation.Wish) { self.init(verdict: .canceled, reason: wish.reason) }
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

    /// - Parameter isPrepared: Whether that was stored with its beginning just now, and its commit has no submodules.
    private func stages(
        of record: IntegrationRecord, isPrepared: Bool, _ early: EarlyJobs, bot: BotSpecification,
        cancellation: Cancellation
    ) async throws -> End {
        let mirror = try await remotes.mirror(for: bot)
        var record = record
        if !isPrepared {
            let preparing = record
            let preparation = try await cancellation.interrupting {
                try await prepareWithRoom(preparing, bot: bot, mirror: mirror, early, cancellation)
            }
            switch preparation {
            case .ready(let prepared): record = prepared
            case .refused(let verdict, let reason): return End(verdict: verdict, reason: reason)
            case .skipped(let reason, let commit):
                var end = End(verdict: .canceled, reason: reason)
                end.skipped = commit
                return end
            case nil: record = try await store.integration(record.id) ?? record
            }
        }
        // What is queued already, or runs since before a restart, is brought to its end by its own stage.
        if record.state == .running(.preparing), let wish = await cancellation.requested { return End(canceled: wish) }
        guard let recipe = record.recipe else {
            return End(verdict: .internalError, reason: "the recipe was not recorded")
        }
        let rerun: RerunRecord? =
            record.run == 1 ? nil : try await store.reruns(of: record.id).first { $0.run == record.run }

        // A daemon that takes it up goes on in the step in which the one before left it.
        let hasBegunJobs = ![.preparing, .beforeTriggers].contains(record.state.step)
        let hasBegunTriggers = [.afterTriggers, .uploading].contains(record.state.step)
        let context = TriggerRunner.Context(integration: record, bot: bot, mirror: mirror)
        // Whoever made the pull request: no trigger acts on unmerged code.
        let triggers = record.pull == nil ? self.triggers : nil
        // They prepare what the jobs need, so they do not run without jobs.
        if let triggers, !hasBegunJobs, bot.triggers.contains(where: { $0.phase == .before }),
            rerun?.isTriggersOnly != true
        {
            try await enter(.beforeTriggers, &record)
            let before = try await triggers.run(.before, context, facts: nil, cancellation: cancellation)
            if let wish = await cancellation.requested { return End(canceled: wish) }
            if before.hasFailed {
                return End(
                    verdict: .canceled, triggerFailed: true, reason: before.reason ?? "a trigger before it failed",
                    comparison: try await compareTriggers(record, bot: bot, mirror: mirror))
            }
        }
        if !hasBegunJobs { try await enter(.running, &record) }
        let attempts = try await runJobs(
            record, bot: bot, recipe: recipe, mirror: mirror, early, isPrepared: isPrepared,
            cancellation: cancellation)
        let wish = await cancellation.requested
        // One canceled job makes the whole canceled: the verdicts' order would hide it behind another's success.
        let isCanceled = wish != nil || attempts.contains { $0.state.verdict == .canceled }
        let comparison = try await compare(record, bot: bot, mirror: mirror, attempts: attempts)
        let (worst, silenced) = comparison.judged(Verdict.worst(of: attempts.compactMap(\.state.verdict)))
        let verdict = isCanceled ? .canceled : worst
        let reason =
            wish?.reason ?? attempts.first { $0.state.verdict == verdict && $0.reason != nil }?.reason ?? silenced
        // Triggers that have begun are ended in order, too.
        guard !isCanceled || hasBegunTriggers, let triggers, bot.triggers.contains(where: { $0.phase == .after }) else {
            return End(verdict: verdict, reason: reason, comparison: comparison)
        }
        if rerun?.testFilter != nil {
            return End(
                verdict: verdict, triggerFailed: try await hasFailedTrigger(record),
                reason: reason.map { verdict.isPublishable ? "\($0); \(Self.filteredReason)" : $0 }
                    ?? Self.filteredReason,
                comparison: comparison)
        }
        try await store.completeIssues(
            of: record.id, issues: comparison.issues, summary: comparison.summary, at: clock.now())
        try await enter(.afterTriggers, &record)
        if let newer = record.supersededBy {
            // Marked before it entered, so that it has to end before its triggers act.
            return End(verdict: .canceled, reason: Store.supersededReason(by: newer, ref: record.ref))
        }
        let facts = TriggerRunner.Facts(
            verdict: worst, summary: comparison.summary,
            before: try await store.previous(of: record.id)?.state.verdict, isUntested: comparison.isUntested)
        // All that is needed of the comparison: 100,000 issues take tens of MB, and triggers can run for an hour.
        let (introductions, hasTriggerErrors) = (comparison.introductions, comparison.hasTriggerErrors)
        let after = try await triggers.run(.after, context, facts: facts, cancellation: cancellation)
        if let wish = await cancellation.requested { return End(canceled: wish) }
        // What the triggers came to, or mended, is an issue like any other.
        let isNew = after.hasFailed || hasTriggerErrors
        return End(
            verdict: verdict, triggerFailed: after.hasFailed, reason: reason ?? after.reason,
            comparison: isNew
                ? try await compare(
                    record, bot: bot, mirror: mirror, attempts: attempts, introductions: introductions) : nil)
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
        _ record: IntegrationRecord, bot: BotSpecification, recipe: Recipe, mirror: Mirror, _ early: EarlyJobs,
        isPrepared: Bool, cancellation: Cancellation
    ) async throws -> [AttemptRecord] {
        try await withThrowingTaskGroup(of: Result<AttemptRecord, any Error>.self) { group in
            for configuration in recipe.configurations {
                var request = JobRunner.Request(
                    integration: record, bot: bot, recipe: recipe, configuration: configuration, mirror: mirror,
                    remotes: remotes)
                (request.early, request.isWithoutSubmodules) = (early, isPrepared)
                group.addTask { [request] in
                    do {
                        return .success(try await jobs.run(request, cancellation: cancellation))
                    } catch {
                        return .failure(error)
                    }
                }
            }
            // Every job is run to its end, even beside one that failed by our fault.
            var results: [Result<AttemptRecord, any Error>] = []
            for try await result in group { results.append(result) }
            return try results.map { try $0.get() }.sorted { $0.id.job < $1.id.job }
        }
    }
}
