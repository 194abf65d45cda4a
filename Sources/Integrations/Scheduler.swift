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
    private let outages: Outages
    private let timer: any Clock<Duration>
    private let logger: Logger

    private struct Running {
        var integration: OpenIntegration
        var cancellation: Cancellation
    }
    private var running: [IntegrationID: Running] = [:]
    /// Those that have begun and wait for a server, by its name: they count to no capacity, and nobody follows them.
    private var waiting: [IntegrationID: String] = [:]
    /// Those that are not under way here and are to end: taken up at once, to their end.
    private var canceled: Set<IntegrationID> = []
    /// What the last reading found to be ended, each for a newer one.
    private var superseded: [(by: IntegrationID, Running)] = []
    /// Whether something can be running in the database but not here: at the start, after an end that could not be stored, and
    /// when one that waits is canceled.
    private var mustTakeUp = true
    /// The newest integration of a daemon before this one, by its row.
    private var newestBefore = Int64.max

    /// - Parameter capacity: Integrations of one priority under way at once, ≥ 1; see `choose`.
    package init(
        store: Store, runner: IntegrationRunner, capacity: Int, wakeup: Wakeup, wishes: CancelWishes,
        outages: Outages, timer: any Clock<Duration>, logger: Logger
    ) {
        self.store = store
        self.runner = runner
        self.capacity = max(1, capacity)
        self.wakeup = wakeup
        self.wishes = wishes
        self.outages = outages
        self.timer = timer
        self.logger = logger
    }

    /// Takes up what a daemon before this one left running, then leases whenever the bell rings.
    ///
    /// When the task is cancelled the runners stop following; jobs go on, and the next daemon takes them up.
    package func run() async {
        // Where it cannot be read, all are taken for old ones.
        newestBefore = (try? await store.newestRow()) ?? .max
        await withDiscardingTaskGroup { group in
            wakeup.ring()
            for await _ in wakeup.rings {
                for integration in await leased() { start(integration, in: &group) }
                await endSuperseded()
            }
            group.cancelAll()
        }
    }

    /// Whether an integration is under way here, or is just being taken from the queue.
    package func isRunning(_ id: IntegrationID) -> Bool { running[id] != nil }

    /// Asks a running integration to stop. The wish is on the disk before anything is asked, so that a daemon which
    /// takes the integration up knows it.
    /// - Parameter run: Which of its runs is meant.
    /// - Throws: `FileError` when the wish cannot be stored.
    package func cancel(_ id: IntegrationID, run: Int, _ wish: Cancellation.Wish) async throws {
        try await wishes.store(wish, for: id, run: run)
        // Left running by a daemon before this one, and not taken up yet: who takes it up finds the wish.
        await running[id]?.cancellation.request(wish)
        if running[id] == nil { takeUpToEnd(id) }
        wakeup.ring()
    }

    private func start(_ integration: OpenIntegration, in group: inout DiscardingTaskGroup) {
        let cancellation = Cancellation()
        let id = integration.id
        let entry = Running(integration: integration, cancellation: cancellation)
        running[id] = entry
        // Marked before the daemon was stopped: nothing else would ring for it before its end.
        if let newer = integration.supersededBy { superseded.append((newer, entry)) }
        waiting[id] = nil
        canceled.remove(id)
        let isNew = integration.rowID > newestBefore
        group.addTask {
            if let wish = await self.wishes.wish(for: id, run: integration.run, isNew: isNew) {
                await cancellation.request(wish)
            }
            switch await self.runner.run(id, cancellation: cancellation) {
            case .stored: await self.ended(id, isStored: true)
            case .left:
                // Its end could not be stored: it is taken up again after a pause. Nothing when the daemon stops.
                do { try await self.timer.sleep(for: Self.pause) } catch { return }
                await self.ended(id, isStored: false)
            case .awaits(let server): await self.wait(id, for: server, cancellation)
            }
        }
    }

    private func wait(_ id: IntegrationID, for server: String, _ cancellation: Cancellation) async {
        running[id] = nil
        waiting[id] = server
        // Asked for when it was at its end here.
        if await cancellation.requested != nil, waiting[id] != nil { takeUpToEnd(id) }
        wakeup.ring()
    }

    private func takeUpToEnd(_ id: IntegrationID) {
        waiting[id] = nil
        canceled.insert(id)
        mustTakeUp = true
    }

    /// Those whose end was decided with the queueing of a newer commit.
    private func endSuperseded() async {
        for (newer, entry) in superseded {
            let reason = Store.supersededReason(by: newer, ref: entry.integration.ref)
            await entry.cancellation.request(Cancellation.Wish(reason: reason))
        }
        superseded = []
    }

    /// Before an integration whose end could not be stored is taken up again.
    static let pause = Duration.seconds(5)

    private func ended(_ id: IntegrationID, isStored: Bool) {
        running[id] = nil
        if !isStored { mustTakeUp = true }
        wakeup.ring()
    }

    /// What is running in the database but not here (after a restart), and what is chosen from the queue and from those whose
    /// server may be asked again. Nothing is read that could change nothing.
    private func leased() async -> [OpenIntegration] {
        do {
            // Those with a job go on whatever runs; one that only prepares waits its turn, however many a daemon before this one left
            // waiting for a server.
            var (left, paused, begun): ([OpenIntegration], [OpenIntegration], [OpenIntegration]) = ([], [], [])
            if mustTakeUp || !running.isEmpty || !waiting.isEmpty {
                let open = try await store.running()
                superseded = open.compactMap { integration in
                    guard let newer = integration.supersededBy, let entry = running[integration.id] else { return nil }
                    return (newer, entry)
                }
                for integration in open where running[integration.id] == nil {
                    if integration.supersededBy != nil || canceled.contains(integration.id) {
                        left.append(integration)
                    } else if waiting[integration.id] != nil {
                        paused.append(integration)
                    } else if integration.isPreparing {
                        begun.append(integration)
                    } else {
                        left.append(integration)
                    }
                }
                // What is not open any more has its end.
                canceled.formIntersection(left.map(\.id))
                mustTakeUp = false
            }
            let busy = running.values.map(\.integration) + left
            // Whoever waits comes after those.
            guard busy.count(where: { Self.priority(of: $0) <= Cause.person.priority }) < capacity else { return left }
            let refs = Set((paused + begun).map(BotRef.init))
            let queued = try await store.heads().filter { running[$0.id] == nil && !refs.contains(BotRef($0)) }
            return left + Self.choose(from: queued + begun + (await askable(paused)), running: busy, capacity: capacity)
        } catch {
            logger.error("the queue could not be read", metadata: ["error": "\(error)"])
            return []
        }
    }

    /// Of those that wait for a server the one that is chosen first: it asks for all, and one that has no place would keep them waiting.
    private func askable(_ paused: [OpenIntegration]) async -> [OpenIntegration] {
        let paused = paused.sorted { (Self.priority(of: $0), $0.rowID) < (Self.priority(of: $1), $1.rowID) }
        var servers: Set<String> = []
        var found: [OpenIntegration] = []
        for integration in paused {
            guard let server = waiting[integration.id], !servers.contains(server) else { continue }
            guard await outages.mayAsk(server) else { continue }
            // Where it answers again, nobody has to wait for another.
            if await outages.isKnown(server) { servers.insert(server) }
            found.append(integration)
        }
        return found
    }

    private struct BotRef: Hashable {
        var bot: Name
        var ref: RefName

        init(_ integration: OpenIntegration) { (bot, ref) = (integration.id.bot, integration.ref) }
    }

    /// The place of an integration, and of its jobs: see `choose`.
    static func priority(of record: IntegrationRecord) -> Int {
        priority(
            record.cause, isRerun: record.run > 1, isRelease: record.isRelease,
            isFork: record.pull.map { !$0.isTrusted } ?? false)
    }

    private static func priority(of candidate: OpenIntegration) -> Int {
        priority(
            candidate.cause, isRerun: candidate.run > 1, isRelease: candidate.isRelease, isFork: candidate.isFork)
    }

    private static func priority(_ cause: Cause, isRerun: Bool, isRelease: Bool, isFork: Bool) -> Int {
        if isRerun { return Cause.person.priority }
        if isFork { return Cause.schedule.priority + 1 }
        return [.person, .upgrade, .schedule].contains(cause) || !isRelease ? cause.priority : 1
    }

    /// The integrations to start now.
    ///
    /// Lower priority first (a person's and reruns, then release branches, then others, then upgrades, then schedules, then pull requests of
    /// forks, which anybody can open), then the bot with the fewest running, then the oldest. Those that come after a candidate take no place
    /// from it: it begins beside them, their jobs wait for slots behind its own, and of one priority never more than the capacity begin. Of
    /// forks' at most half of the capacity goes to one bot, and one place of it stays free for whatever else comes. One ref of a bot is
    /// integrated by one integration at a time, in order, since each is compared with the one before.
    package static func choose(
        from queued: [OpenIntegration], running: [OpenIntegration], capacity: Int
    ) -> [OpenIntegration] {
        var busy = Set(running.map(BotRef.init))
        var waiting = queued.filter { candidate in !running.contains { $0.id == candidate.id } }
        var chosen: [OpenIntegration] = []
        /// Those that a candidate shares the capacity with.
        func rivals(_ candidate: OpenIntegration) -> [OpenIntegration] {
            let own = Self.priority(of: candidate)
            return (running + chosen).filter { Self.priority(of: $0) <= own }
        }
        func load(_ candidate: OpenIntegration) -> Int {
            rivals(candidate).count { $0.id.bot == candidate.id.bot }
        }
        func mayRun(_ candidate: OpenIntegration) -> Bool {
            guard !busy.contains(BotRef(candidate)), rivals(candidate).count < capacity else { return false }
            guard candidate.isFork, candidate.run == 1 else { return true }
            let forks = (running + chosen).filter(\.isFork)
            return forks.count < max(1, capacity - 1)
                && forks.count { $0.id.bot == candidate.id.bot } < max(1, capacity / 2)
        }
        while true {
            let next = waiting.filter(mayRun).min {
                (Self.priority(of: $0), load($0), $0.rowID) < (Self.priority(of: $1), load($1), $1.rowID)
            }
            guard let next else { return chosen }
            chosen.append(next)
            busy.insert(BotRef(next))
            waiting.removeAll { $0.id == next.id }
        }
    }
}
