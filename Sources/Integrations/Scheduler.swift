package import Logging
package import Model
package import Storage

/// Leases queued integrations by capacity, priority and fairness, and runs each to its end.
package actor Scheduler {
    private let store: Store
    private let runner: IntegrationRunner
    private let capacity: Int
    private let wakeup: Wakeup
    private let wishes: CancelWishes
    private let timer: any Clock<Duration>
    private let logger: Logger

    private struct Running {
        var record: IntegrationRecord
        var cancellation: Cancellation
    }
    private var running: [IntegrationID: Running] = [:]

    /// - Parameter capacity: Integrations under way at once, ≥ 1.
    package init(
        store: Store, runner: IntegrationRunner, capacity: Int, wakeup: Wakeup, wishes: CancelWishes,
        timer: any Clock<Duration>, logger: Logger
    ) {
        self.store = store
        self.runner = runner
        self.capacity = max(1, capacity)
        self.wakeup = wakeup
        self.wishes = wishes
        self.timer = timer
        self.logger = logger
    }

    /// Takes up what a daemon before this one left running, then leases whenever the bell rings.
    ///
    /// When the task is cancelled the runners stop following; jobs go on, and the next daemon takes them up.
    package func run() async {
        await withDiscardingTaskGroup { group in
            wakeup.ring()
            for await _ in wakeup.rings {
                for record in await leased() { start(record, in: &group) }
            }
            group.cancelAll()
        }
    }

    /// Asks a running integration to stop. The wish is on the disk before anything is asked, so that a daemon which
    /// takes the integration up knows it.
    /// - Returns: Whether it is running here.
    /// - Throws: `FileError` when the wish cannot be stored.
    package func cancel(_ id: IntegrationID, reason: String) async throws -> Bool {
        guard let entry = running[id] else { return false }
        try await wishes.store(reason, for: id)
        await entry.cancellation.request(reason: reason)
        return true
    }

    private func start(_ record: IntegrationRecord, in group: inout DiscardingTaskGroup) {
        let cancellation = Cancellation()
        running[record.id] = Running(record: record, cancellation: cancellation)
        group.addTask {
            if let reason = await self.wishes.wish(for: record.id) { await cancellation.request(reason: reason) }
            if await !self.runner.run(record.id, cancellation: cancellation) {
                // Its end could not be stored: it is taken up again after a pause. Nothing when the daemon stops.
                do { try await self.timer.sleep(for: Self.pause) } catch { return }
            }
            await self.ended(record.id)
        }
    }

    /// Before an integration whose end could not be stored is taken up again.
    static let pause = Duration.seconds(5)

    private func ended(_ id: IntegrationID) {
        running[id] = nil
        wakeup.ring()
    }

    /// What is running in the database but not here (after a restart), and what is chosen from the queue.
    private func leased() async -> [IntegrationRecord] {
        do {
            let left = try await store.running().filter { running[$0.id] == nil }
            let busy = running.values.map(\.record) + left
            let queued = try await store.queued().filter { running[$0.id] == nil }
            return left + Self.choose(from: queued, running: busy, capacity: capacity)
        } catch {
            logger.error("the queue could not be read", metadata: ["error": "\(error)"])
            return []
        }
    }

    /// The integrations to start now.
    ///
    /// Lower priority first (a person's, then release branches, then others, then schedules), then the bot with the
    /// fewest running, then the oldest. One ref of a bot is integrated by one integration at a time, in order, since
    /// each is compared with the one before.
    package static func choose(
        from queued: [IntegrationRecord], running: [IntegrationRecord], capacity: Int
    ) -> [IntegrationRecord] {
        struct BotRef: Hashable {
            var bot: Name
            var ref: RefName
        }
        var busy = Set(running.map { BotRef(bot: $0.id.bot, ref: $0.ref) })
        var load: [Name: Int] = [:]
        for record in running { load[record.id.bot, default: 0] += 1 }
        func priority(_ record: IntegrationRecord) -> Int {
            record.cause == .person || record.cause == .schedule || !record.isRelease ? record.cause.priority : 1
        }
        var waiting = queued.filter { candidate in !running.contains { $0.id == candidate.id } }
        var chosen: [IntegrationRecord] = []
        while running.count + chosen.count < capacity {
            let free = waiting.filter { !busy.contains(BotRef(bot: $0.id.bot, ref: $0.ref)) }
            let next = free.min {
                (priority($0), load[$0.id.bot, default: 0], $0.rowID)
                    < (priority($1), load[$1.id.bot, default: 0], $1.rowID)
            }
            guard let next else { break }
            chosen.append(next)
            busy.insert(BotRef(bot: next.id.bot, ref: next.ref))
            load[next.id.bot, default: 0] += 1
            waiting.removeAll { $0.id == next.id }
        }
        return chosen
    }
}
