import Logging
import Model
import Storage

/// Queues the integrations of bots' schedules. The store records up to when each schedule was handled. So each time of a schedule counts once,
/// whatever the clock does, and through restarts.
struct Schedules {
    private let store: Store
    private let registry: BotRegistry
    private let logger: Logger
    private var entries: [Name: Entry] = [:]
    /// The marks that an earlier daemon left; `nil` before they were read.
    private var stored: [Name: ScheduleMark]?

    private struct Entry {
        var schedule: BotSpecification.Schedule
        var takenUp: Timestamp
        var next: Timestamp?
        /// A mark that is far ahead of the clock, until the clock reaches it; `nil` if there is none.
        var ahead: Timestamp?
    }

    /// The largest distance of a valid mark from the clock. A mark further ahead comes from a wrong clock. Without this limit, a clock that was a
    /// year ahead for a moment would stop a bot's schedule for a year.
    static let longestAhead = Duration.seconds(86_400)

    init(store: Store, registry: BotRegistry, logger: Logger) {
        self.store = store
        self.registry = registry
        self.logger = logger
    }

    /// Queues the integrations that are due.
    /// - Throws: The last error of a bot. That bot is tried again the next time; other bots are not queued twice.
    mutating func queueDue(at now: Timestamp) async throws {
        if stored == nil {
            stored = Dictionary(try await store.scheduleMarks().map { ($0.bot, $0) }) { $1 }
        }
        var failure: (any Error)?
        let bots = await registry.all()
        for bot in bots {
            do {
                try await take(bot, at: now)
            } catch {
                failure = error
            }
        }
        let names = Set(bots.map(\.name))
        entries = entries.filter { names.contains($0.key) }
        if let failure { throw failure }
    }

    private mutating func take(_ bot: BotSpecification, at now: Timestamp) async throws {
        guard let schedule = bot.schedule else {
            // A bot that comes back counts as new.
            entries[bot.name] = nil
            stored?[bot.name] = nil
            return
        }
        let mark = stored?[bot.name]
        var entry: Entry
        if let known = entries[bot.name], known.schedule.key == schedule.key {
            entry = known
            entry.schedule = schedule
        } else {
            let isKnown = entries[bot.name] == nil && mark?.schedule == schedule.key
            let takenUp = isKnown ? mark?.takenUp ?? now : now
            // A new bot's schedule begins now. That is stored, because the daemon may be stopped at the schedule's first time.
            if !isKnown { try await store(bot, schedule, upTo: now, queueing: [], at: now) }
            entry = Entry(schedule: schedule, takenUp: takenUp)
            await plan(&entry, after: takenUp, of: bot.name)
        }
        if entry.takenUp > now + Self.longestAhead {
            entry.ahead = entry.takenUp
            entry.takenUp = now
            await plan(&entry, after: now, of: bot.name)
        }
        // The present clock was behind, so the times before the mark were handled.
        if let ahead = entry.ahead, ahead <= now {
            (entry.takenUp, entry.ahead) = (ahead, nil)
            await plan(&entry, after: ahead, of: bot.name)
        }
        if let next = entry.next, next <= now {
            // One run makes up for all times that have passed because the machine slept or the clock jumped.
            try await store(bot, schedule, upTo: now, queueing: try await tips(of: bot, schedule), at: now)
            (entry.takenUp, entry.ahead) = (now, nil)
            await plan(&entry, after: now, of: bot.name)
        }
        entries[bot.name] = entry
    }

    private func plan(_ entry: inout Entry, after moment: Timestamp, of bot: Name) async {
        guard let zone = await registry.zone(of: entry.schedule) else {
            logger.error(
                "a bot's schedule has a time zone that this version does not know, so it queues nothing; correct it in the bot's file",
                metadata: ["bot": "\(bot)", "zone": "\(entry.schedule.zone ?? "")"])
            entry.next = nil
            return
        }
        entry.next = entry.schedule.next(after: moment, in: zone)
    }

    private mutating func store(
        _ bot: BotSpecification, _ schedule: BotSpecification.Schedule, upTo moment: Timestamp,
        queueing new: [NewIntegration], at now: Timestamp
    ) async throws {
        let mark = ScheduleMark(bot: bot.name, schedule: schedule.key, takenUp: moment)
        let records = try await store.takeUp(mark, queueing: new, at: now) {
            .caused($0, by: .schedule, named: "the bot's schedule", at: now)
        }
        stored?[bot.name] = mark
        for record in records { logger.info("queued by schedule", metadata: ["integration": "\(record.id)"]) }
    }

    /// Returns the branches that the schedule names, with the commits that the last scan found. Empty if there are none.
    private func tips(of bot: BotSpecification, _ schedule: BotSpecification.Schedule) async throws -> [NewIntegration]
    {
        let defaultBranch = try await store.repository(bot.repository)?.defaultBranch
        return try await store.heads(of: bot.repository)
            .filter { schedule.covers($0.key, defaultBranch: defaultBranch) }.sorted { $0.key < $1.key }
            .map { ref, commit in
                NewIntegration(
                    bot: bot.name, ref: ref, commit: commit, cause: .schedule, isRelease: bot.isRelease(ref))
            }
    }
}

extension BotSpecification.Schedule {
    /// A text that differs for different schedules.
    fileprivate var key: String { "\(times) \(zone ?? "UTC")" }
}
