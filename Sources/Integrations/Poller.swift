package import Logging
package import Model
package import Storage

/// Makes sure that time alone brings events: reloads bot files, asks for looks, queues scheduled integrations.
package struct Poller: Sendable {
    private let store: Store
    private let registry: BotRegistry
    private let clock: WallClock
    private let timer: any Clock<Duration>
    private let looks: Wakeup
    private let logger: Logger

    /// How often bot files are looked at: half of the two seconds within which a change is taken up.
    static let tick = Duration.seconds(1)
    /// How often a repository is asked when its bot says nothing (docs/manual.md, "poll").
    static let usualInterval = Duration.seconds(60)
    /// The same once an authentic webhook has arrived: polling then only repairs what webhooks lose.
    static let relaxedInterval = Duration.seconds(600)

    package init(
        store: Store, registry: BotRegistry, clock: WallClock, timer: any Clock<Duration>, looks: Wakeup, logger: Logger
    ) {
        self.store = store
        self.registry = registry
        self.clock = clock
        self.timer = timer
        self.looks = looks
        self.logger = logger
    }

    /// Runs until the task is cancelled. Every repository is asked at the start, so that what was pushed while the
    /// daemon was down is found.
    package func run() async {
        var lastAsked: [String: Timestamp] = [:]
        var lastScheduled: [Name: Timestamp] = [:]
        while !Task.isCancelled {
            let now = clock.now()
            do {
                try await reload()
                try await askDue(&lastAsked, at: now)
                try await queueScheduled(&lastScheduled, at: now)
            } catch {
                // What could not be stored is due again at the next tick.
                logger.error("polling failed and goes on", metadata: ["error": "\(error)"])
            }
            do { try await timer.sleep(for: Self.tick) } catch { return }
        }
    }

    /// Reads the bot files that changed, and stores which bots there are; tried again when it could not be stored. Done
    /// once before anything is taken up, so that every bot is known.
    package func reload() async throws {
        await registry.reload()
        guard let bots = await registry.unregistered() else { return }
        try await store.register(bots, at: clock.now())
        await registry.markRegistered(bots)
    }

    private func askDue(_ lastAsked: inout [String: Timestamp], at now: Timestamp) async throws {
        var rings = false
        for bot in await registry.all() {
            let last = lastAsked[bot.repository]
            guard let last else {
                try await store.requestLook(at: bot.repository)
                lastAsked[bot.repository] = now
                rings = true
                continue
            }
            guard let interval = try await interval(of: bot), now - last >= interval else { continue }
            try await store.requestLook(at: bot.repository)
            lastAsked[bot.repository] = now
            rings = true
        }
        if rings { looks.ring() }
    }

    private func interval(of bot: BotSpecification) async throws -> Duration? {
        switch bot.poll {
        case .off: return nil
        case .every(let interval): return interval
        case .automatic:
            let hasWebhook = try await store.repository(bot.repository)?.hasAuthenticWebhook ?? false
            return hasWebhook ? Self.relaxedInterval : Self.usualInterval
        }
    }

    /// - Parameter last: Up to when each bot's moments were taken up. One that cannot be queued is tried again at the next tick, without
    ///   queueing those of others twice.
    private func queueScheduled(_ last: inout [Name: Timestamp], at now: Timestamp) async throws {
        var failure: (any Error)?
        for bot in await registry.all() {
            do {
                if let before = last[bot.name], let schedule = bot.schedule,
                    schedule.hasMoment(after: before, upTo: now), let new = try await tip(of: bot)
                {
                    let record = try await store.queue(new, at: now) {
                        .caused($0, by: .schedule, named: "the bot's schedule", at: now)
                    }
                    logger.info("queued by schedule", metadata: ["integration": "\(record.id)"])
                }
                last[bot.name] = now
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
    }

    /// The default branch as it was seen last; nothing while there is none.
    private func tip(of bot: BotSpecification) async throws -> NewIntegration? {
        guard let branch = try await store.repository(bot.repository)?.defaultBranch,
            let commit = try await store.heads(of: bot.repository)[branch]
        else { return nil }
        return NewIntegration(
            bot: bot.name, ref: branch, commit: commit, cause: .schedule, isRelease: bot.isRelease(branch))
    }
}

extension BotSpecification.Schedule {
    /// Whether a moment of the schedule (UTC) lies in the half-open interval. At most one is reported, however long
    /// the interval: a machine that slept makes up for one run, not for all.
    package func hasMoment(after before: Timestamp, upTo now: Timestamp) -> Bool {
        let day: Int64 = 86_400_000
        let first = before.millisecondsSinceEpoch / day
        let last = now.millisecondsSinceEpoch / day
        // A week of days holds a moment of every schedule.
        for index in max(first, last - 7)...max(first, last) {
            // 1970-01-01 was a Thursday, the fourth day counted from Monday.
            let weekday = Int((index + 3) % 7) + 1
            let moment: Int64
            switch self {
            case .daily(let hour, let minute): moment = Int64(hour * 60 + minute) * 60_000
            case .weekly(let wanted, let hour, let minute):
                guard wanted == weekday else { continue }
                moment = Int64(hour * 60 + minute) * 60_000
            }
            let time = Timestamp(millisecondsSinceEpoch: index * day + moment)
            if before < time, time <= now { return true }
        }
        return false
    }
}
