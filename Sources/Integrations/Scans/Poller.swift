package import Basics
package import Execution
package import Logging
import Model
package import Storage

/// Does the work that time alone causes: reloads bot files, requests scans, and queues scheduled integrations.
package struct Poller: Sendable {
    private let store: Store
    private let registry: BotRegistry
    private let numbers: UsedNumbers
    private let clock: WallClock
    private let timer: any Clock<Duration>
    private let scans: Signal
    private let logger: Logger
    private let jitter: @Sendable () -> Double
    private let eachTick: @Sendable () async -> Void

    /// How often bot files are checked. A change must take effect within two seconds, and this is half of that.
    static let tick = Duration.seconds(1)
    private static let pauseBetweenMessages = Duration.seconds(60)

    /// - Parameters:
    ///   - jitter: Returns the position of a scan in its randomized interval, between 0 and 1.
    ///   - eachTick: Called at each tick, for other checks by time.
    package init(
        store: Store, registry: BotRegistry, state: StateDirectory, clock: WallClock, timer: any Clock<Duration>,
        scans: Signal, logger: Logger, jitter: @escaping @Sendable () -> Double = { .random(in: 0...1) },
        eachTick: @escaping @Sendable () async -> Void = {}
    ) {
        self.jitter = jitter
        self.eachTick = eachTick
        self.store = store
        self.registry = registry
        numbers = UsedNumbers(state: state)
        self.clock = clock
        self.timer = timer
        self.scans = scans
        self.logger = logger
    }

    /// Runs until the task is canceled. A scan of every repository is requested at the start, so that pushes while the daemon was down are found.
    package func run() async {
        var polling = Polling(jitter: jitter)
        var schedules = Schedules(store: store, registry: registry, logger: logger)
        var reported: [String: Timestamp] = [:]
        while !Task.isCancelled {
            let now = clock.now()
            await eachTick()
            // No failure holds up the other steps. What could not be stored is due again at the next tick.
            do { try await reload() } catch { tell("the bot files could not be applied", error, &reported, at: now) }
            do { try await endOrphans(at: now) } catch {
                tell("what waits of a bot whose file is gone could not be canceled", error, &reported, at: now)
            }
            do { try await askDue(&polling, at: now) } catch {
                tell("no scan could be requested", error, &reported, at: now)
            }
            do {
                try await schedules.queueDue(at: now)
            } catch {
                tell("scheduled integrations could not be queued", error, &reported, at: now)
            }
            do { try await timer.sleep(for: Self.tick) } catch { return }
        }
    }

    /// Logs each message at most once a minute. A failure at each tick, as on a full disk, must not fill the log.
    private func tell(_ message: String, _ error: any Error, _ reported: inout [String: Timestamp], at now: Timestamp) {
        if let last = reported[message], last <= now, now < last + Self.pauseBetweenMessages { return }
        reported[message] = now
        logger.error("\(message); Martlet tries again each second", metadata: ["error": "\(error)"])
    }

    /// Reads the bot files that changed, and stores the bots. Called again if they could not be stored. Also called once before any integration is
    /// taken up, so that every bot is known.
    package func reload() async throws {
        await registry.reload()
        for problem in await registry.newProblems() {
            logger.warning(
                "a bot file has errors; the bot goes on as it was before", metadata: ["problem": "\(problem)"])
        }
        guard let bots = await registry.unregistered() else { return }
        let used = try await numbers.highest(of: bots.map(\.name))
        // A bot of the name of one that is just being deleted is registered once that is done.
        let waiting = Set(try await store.register(bots, used: used, at: clock.now()))
        await registry.markRegistered(bots.filter { !waiting.contains($0.name) })
        // The repository of a new or changed bot is scanned.
        scans.notify()
    }

    /// How long a bot's file is missing before its queued integrations are canceled. An editor or a deployment can replace a file in two steps.
    static let patienceWithoutFile = Duration.seconds(60)

    /// Cancels the queued integrations of bots whose files are gone, and withdraws their reruns that have not begun. If the file returns, the scan
    /// that follows queues the tips of the bot's branches.
    private func endOrphans(at now: Timestamp) async throws {
        for (id, run) in try await store.orphans(since: now + (.zero - Self.patienceWithoutFile)) {
            do throws(StoreError) {
                if run > 1 {
                    _ = try await store.takeBackRerun(of: id, at: now)
                } else {
                    try await store.cancel(
                        queued: id, at: now,
                        reason: "the file of the bot \(id.bot) is gone; queue it again when it is back")
                }
                logger.info("canceled, since its bot's file is gone", metadata: ["integration": "\(id)"])
            } catch {
                // It has just begun.
                guard error.code == .illegalTransition else { throw error }
            }
        }
    }

    private func askDue(_ polling: inout Polling, at now: Timestamp) async throws {
        let due = try await polling.due(of: await registry.polls(), at: now) { try await store.hookedRepositories() }
        guard !due.isEmpty else { return }
        try await store.requestScans(at: due)
        polling.record(due, at: now)
        scans.notify()
    }
}
