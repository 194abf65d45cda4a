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
    private let jitter: @Sendable () -> Double

    /// How often bot files are looked at: half of the two seconds within which a change is taken up.
    static let tick = Duration.seconds(1)

    /// - Parameter jitter: Where in a scattered interval a look falls, between 0 and 1.
    package init(
        store: Store, registry: BotRegistry, clock: WallClock, timer: any Clock<Duration>, looks: Wakeup,
        logger: Logger, jitter: @escaping @Sendable () -> Double = { .random(in: 0...1) }
    ) {
        self.jitter = jitter
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
        var polling = Polling(jitter: jitter)
        var schedules = Schedules(store: store, registry: registry, logger: logger)
        while !Task.isCancelled {
            let now = clock.now()
            do {
                try await reload()
                try await askDue(&polling, at: now)
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
        // A bot that is new or says something else has its repository looked at.
        looks.ring()
    }

    private func askDue(_ polling: inout Polling, at now: Timestamp) async throws {
        let due = try await polling.due(of: await registry.polls(), at: now) { try await store.hookedRepositories() }
        guard !due.isEmpty else { return }
        try await store.requestLooks(at: due)
        polling.note(due, at: now)
        looks.ring()
    }
}
