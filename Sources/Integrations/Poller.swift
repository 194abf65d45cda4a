package import Logging
import Model
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
        var schedules = Schedules(store: store, registry: registry, logger: logger)
        while !Task.isCancelled {
            let now = clock.now()
            do {
                try await reload()
                try await askDue(&lastAsked, at: now)
                try await schedules.queueDue(at: now)
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
}
