import Logging
import Model
import Storage

/// Queues what bots' schedules bring. Up to when each was taken up is stored, so that a moment counts once: whatever the
/// clock does, and through restarts.
struct Schedules {
    private let store: Store
    private let registry: BotRegistry
    private let logger: Logger
    private var entries: [Name: Entry] = [:]
    /// As the daemon before this one left them; nothing before they were read.
    private var stored: [Name: ScheduleMark]?

    private struct Entry {
        var schedule: BotSpecification.Schedule
        var takenUp: Timestamp
        var next: Timestamp?
    }

    /// Farther ahead of the clock a mark was made by a clock that was wrong: without this bound, one that was a year ahead for a
    /// moment would end a bot's schedule for a year.
    static let longestAhead = Duration.seconds(86_400)

    init(store: Store, registry: BotRegistry, logger: Logger) {
        self.store = store
        self.registry = registry
        self.logger = logger
    }

    /// - Throws: What could not be stored; it is tried again the next time, without queueing those of other bots twice.
    mutating func queueDue(at now: Timestamp) async throws {
        let marks: [Name: ScheduleMark]
        if let stored {
            marks = stored
        } else {
            marks = Dictionary(uniqueKeysWithValues: try await store.scheduleMarks().map { ($0.bot, $0) })
            stored = marks
        }
        var failure: (any Error)?
        let bots = await registry.all()
        for bot in bots {
            do {
                try await take(bot, marks[bot.name], at: now)
            } catch {
                failure = error
            }
        }
        let names = Set(bots.map(\.name))
        entries = entries.filter { names.contains($0.key) }
        if let failure { throw failure }
    }

    private mutating func take(_ bot: BotSpecification, _ mark: ScheduleMark?, at now: Timestamp) async throws {
        guard let schedule = bot.schedule else {
            entries[bot.name] = nil
            return
        }
        var entry: Entry
        if let known = entries[bot.name], known.schedule.key == schedule.key {
            entry = known
            entry.schedule = schedule
        } else {
            let isKnown = entries[bot.name] == nil && mark?.schedule == schedule.key
            let takenUp = isKnown ? mark?.takenUp ?? now : now
            // One that is new begins now; that is stored, since the daemon may be down at its first moment.
            if !isKnown { try await store(bot, schedule, upTo: now, queueing: [], at: now) }
            entry = Entry(
                schedule: schedule, takenUp: takenUp, next: await next(schedule, after: takenUp, of: bot.name))
        }
        if entry.takenUp > now + Self.longestAhead {
            entry.takenUp = now
            entry.next = await next(schedule, after: now, of: bot.name)
        }
        if let next = entry.next, next <= now {
            // However many moments have passed, since the machine slept or the clock jumped, one run makes up for all.
            try await store(bot, schedule, upTo: now, queueing: try await tips(of: bot, schedule), at: now)
            entry.takenUp = now
            entry.next = await self.next(schedule, after: now, of: bot.name)
        }
        entries[bot.name] = entry
    }

    private func next(
        _ schedule: BotSpecification.Schedule, after moment: Timestamp, of bot: Name
    ) async -> Timestamp? {
        guard let zone = await registry.zone(of: schedule) else {
            logger.error(
                "a bot's schedule has a time zone that is not to be found; nothing is queued by it",
                metadata: ["bot": "\(bot)", "zone": "\(schedule.zone ?? "")"])
            return nil
        }
        return schedule.next(after: moment, in: zone)
    }

    private func store(
        _ bot: BotSpecification, _ schedule: BotSpecification.Schedule, upTo moment: Timestamp,
        queueing new: [NewIntegration], at now: Timestamp
    ) async throws {
        let mark = ScheduleMark(bot: bot.name, schedule: schedule.key, takenUp: moment)
        let records = try await store.takeUp(mark, queueing: new, at: now) {
            .caused($0, by: .schedule, named: "the bot's schedule", at: now)
        }
        for record in records { logger.info("queued by schedule", metadata: ["integration": "\(record.id)"]) }
    }

    /// The branches that the schedule names, as they were seen last; none while there are none.
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
    /// What makes it another schedule.
    fileprivate var key: String { "\(times) \(zone ?? "UTC")" }
}
