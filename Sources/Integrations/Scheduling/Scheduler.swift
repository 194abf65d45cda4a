package import Basics
import Jobs
package import Logging
package import Model
package import Storage

/// Takes queued integrations by capacity, priority and fairness, and runs each to its end.
package actor Scheduler {
    private let store: Store
    private let runner: IntegrationRunner
    /// See `init`.
    private(set) var capacity: Int
    private let signal: Signal
    private let cancellationRequests: CancellationRequests
    private let circuitBreaker: CircuitBreaker
    private let timer: any Clock<Duration>
    private let logger: Logger

    private struct Running {
        var integration: OpenIntegration
        var cancellation: Cancellation
    }
    private var running: [IntegrationID: Running] = [:]
    /// Integrations that have started and wait for a server, with the server's name. They do not count toward the capacity.
    private var waiting: [IntegrationID: String] = [:]
    /// Integrations that are canceled and do not run here. They are taken up at once, so that they end.
    private var canceled: Set<IntegrationID> = []
    /// The running integrations that the last reading found to be superseded, each with the newer one.
    private var superseded: [(by: IntegrationID, Running)] = []
    /// Whether an integration may be running in the database but not here: at the start, after an end that could not be stored, and if a waiting
    /// integration is canceled.
    private var mustTakeUp = true
    /// Whether integrations are just being chosen.
    private var isChoosing = false
    /// The row of the newest integration that was queued before this daemon started.
    private var newestBefore = Int64.max

    /// - Parameter capacity: The most integrations of one priority that run at once, at least 1; see `choose`.
    package init(
        store: Store, runner: IntegrationRunner, capacity: Int, signal: Signal,
        cancellationRequests: CancellationRequests,
        circuitBreaker: CircuitBreaker, timer: any Clock<Duration>, logger: Logger
    ) {
        self.store = store
        self.runner = runner
        self.capacity = max(1, capacity)
        self.signal = signal
        self.cancellationRequests = cancellationRequests
        self.circuitBreaker = circuitBreaker
        self.timer = timer
        self.logger = logger
    }

    /// Changes the most integrations of one priority that run at once. Those that run go on.
    /// - Parameter capacity: At least 1.
    package func setCapacity(_ capacity: Int) {
        self.capacity = max(1, capacity)
        signal.notify()
    }

    /// Takes up the integrations that an earlier daemon left running, then takes queued ones at each notification.
    ///
    /// If the task is canceled, the jobs continue without being followed, and the next daemon takes them up.
    package func run() async {
        // If the row cannot be read, all integrations count as older.
        newestBefore = (try? await store.newestRow()) ?? .max
        await withDiscardingTaskGroup { group in
            signal.notify()
            for await _ in signal.notifications {
                isChoosing = true
                for integration in await leased() { start(integration, in: &group) }
                isChoosing = false
                await endSuperseded()
            }
            group.cancelAll()
        }
    }

    /// Whether an integration runs here, or is just being taken from the queue.
    package func isRunning(_ id: IntegrationID) -> Bool { running[id] != nil }

    /// The number of integrations that run here.
    package var runningCount: Int { running.count }

    /// Whether nothing runs here, and nothing is about to: during a pause it stays so. Integrations that wait for a git server do not count.
    package var isIdle: Bool { running.isEmpty && !isChoosing && !mustTakeUp }

    /// Asks a running integration to stop. The request is on the disk first, so that a daemon that takes the integration up finds it.
    /// - Parameter run: The run of the integration that is canceled.
    /// - Throws: `FileError` if the request cannot be stored.
    package func cancel(_ id: IntegrationID, run: Int, _ cancelRequest: Cancellation.Request) async throws {
        try await cancellationRequests.store(cancelRequest, for: id, run: run)
        // An earlier daemon may have left it running, and it is not taken up yet. It finds the request when it is.
        await running[id]?.cancellation.request(cancelRequest)
        if running[id] == nil { takeUpToEnd(id) }
        signal.notify()
    }

    private func start(_ integration: OpenIntegration, in group: inout DiscardingTaskGroup) {
        let cancellation = Cancellation()
        let id = integration.id
        let entry = Running(integration: integration, cancellation: cancellation)
        running[id] = entry
        // It was marked before the daemon was stopped, so there is no other notification about it before its end.
        if let newer = integration.supersededBy { superseded.append((newer, entry)) }
        waiting[id] = nil
        canceled.remove(id)
        let isNew = integration.rowID > newestBefore
        group.addTask {
            if let cancelRequest = await self.cancellationRequests.request(for: id, run: integration.run, isNew: isNew)
            {
                await cancellation.request(cancelRequest)
            }
            switch await self.runner.run(id, cancellation: cancellation) {
            case .stored: await self.ended(id, isStored: true)
            case .left:
                // Its end could not be stored, so it is taken up again after a pause. If the daemon stops, it is left as it is.
                do { try await self.timer.sleep(for: JobRunner.pause) } catch { return }
                await self.ended(id, isStored: false)
            case .awaits(let server): await self.wait(id, for: server, cancellation)
            }
        }
    }

    private func wait(_ id: IntegrationID, for server: String, _ cancellation: Cancellation) async {
        running[id] = nil
        waiting[id] = server
        // The request came while the integration was about to wait.
        if await cancellation.requested != nil, waiting[id] != nil { takeUpToEnd(id) }
        signal.notify()
    }

    private func takeUpToEnd(_ id: IntegrationID) {
        waiting[id] = nil
        canceled.insert(id)
        mustTakeUp = true
    }

    /// Cancels the integrations whose end was decided when a newer commit was queued.
    private func endSuperseded() async {
        for (newer, entry) in superseded {
            let reason = Store.supersededReason(by: newer, ref: entry.integration.ref)
            await entry.cancellation.request(Cancellation.Request(reason: reason))
        }
        superseded = []
    }

    private func ended(_ id: IntegrationID, isStored: Bool) {
        running[id] = nil
        if !isStored { mustTakeUp = true }
        signal.notify()
    }

    /// Returns the integrations to start: those that are running in the database but not here, and those chosen from the queue and from those whose
    /// server may be tried again. It does not read what cannot change the result.
    private func leased() async -> [OpenIntegration] {
        do {
            // An integration with a job is taken up whatever else runs. One that only prepares waits its turn, because an earlier daemon may have
            // left many waiting for a server.
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
                // An integration that is no longer open has ended.
                canceled.formIntersection(left.map(\.id))
                mustTakeUp = false
            }
            let busy = running.values.map(\.integration) + left
            // Every queued integration comes after those.
            guard busy.count(where: { $0.priority <= Cause.person.priority }) < capacity else { return left }
            let refs = Set((paused + begun).map(BotRef.init))
            let queued = try await store.heads().filter { running[$0.id] == nil && !refs.contains(BotRef($0)) }
            let candidates = queued + begun + (await askable(paused))
            guard !candidates.isEmpty else { return left }
            let pauses = try await store.pauses()
            return left
                + Self.choose(
                    from: candidates.filter { pauses.holding($0.id.bot, isRelease: $0.isRelease) == nil },
                    running: busy,
                    capacity: capacity)
        } catch {
            logger.error("the queue could not be read", metadata: ["error": "\(error)"])
            return []
        }
    }

    /// Returns the waiting integrations that may try their server. Only the first in order is returned for each server that does not answer: it tries
    /// for all of them. One without a place in the capacity would keep the others waiting.
    private func askable(_ paused: [OpenIntegration]) async -> [OpenIntegration] {
        let paused = paused.sorted { ($0.priority, $0.rowID) < ($1.priority, $1.rowID) }
        var servers: Set<String> = []
        var found: [OpenIntegration] = []
        for integration in paused {
            guard let server = waiting[integration.id], !servers.contains(server) else { continue }
            guard await circuitBreaker.permitsRequest(server) else { continue }
            // If the server answers, all of its integrations may continue.
            if await circuitBreaker.isKnown(server) { servers.insert(server) }
            found.append(integration)
        }
        return found
    }

    private struct BotRef: Hashable {
        var bot: Name
        var ref: RefName

        init(_ integration: OpenIntegration) { (bot, ref) = (integration.id.bot, integration.ref) }
    }

    /// Returns the priority of an integration, and of its jobs; see `choose`.
    static func priority(of record: IntegrationRecord) -> Int {
        priority(
            record.cause, isRerun: record.run > 1, isRelease: record.isRelease,
            isFork: record.pull.map { !$0.isTrusted } ?? false)
    }

    static func priority(of candidate: OpenIntegration) -> Int {
        priority(
            candidate.cause, isRerun: candidate.run > 1, isRelease: candidate.isRelease, isFork: candidate.isFork)
    }

    private static func priority(_ cause: Cause, isRerun: Bool, isRelease: Bool, isFork: Bool) -> Int {
        if isRerun { return Cause.person.priority }
        if isFork { return Cause.schedule.priority + 1 }
        return [.person, .upgrade, .schedule].contains(cause) || !isRelease ? cause.priority : 1
    }

    /// Returns the integrations to start now.
    ///
    /// The order is by priority number, then by the fewest running integrations of the bot, then by age. Priorities from first to last:
    /// 1. users' integrations and reruns
    /// 2. release branches
    /// 3. other refs
    /// 4. upgrades
    /// 5. schedules
    /// 6. pull requests of forks, which anyone can open
    ///
    /// Integrations with a later priority take no place from a candidate: it starts beside them, and their jobs wait for slots behind its own. No
    /// more than the capacity start of one priority. At most half of the capacity goes to forks' pull requests of one bot, and one place stays free
    /// of forks. One ref of a bot is integrated by one integration at a time, in order, because each is compared with the previous one.
    package static func choose(
        from queued: [OpenIntegration], running: [OpenIntegration], capacity: Int
    ) -> [OpenIntegration] {
        let known = Set(running.map(\.id))
        let waiting = queued.filter { !known.contains($0.id) }.sorted { $0.rowID < $1.rowID }
        var choice = Choice(running: running, capacity: capacity)
        for priority in Set(waiting.map(\.priority)).sorted() {
            choice.add(waiting.filter { $0.priority == priority }, of: priority)
        }
        return choice.chosen
    }

    /// A choice that is being made, one priority after another. It counts instead of comparing each candidate with each integration, because
    /// thousands can wait while hundreds run.
    private struct Choice {
        let running: [OpenIntegration]
        let capacity: Int
        private(set) var chosen: [OpenIntegration] = []
        private var busy: Set<BotRef>
        /// The number of forks' integrations that run or were chosen, by bot.
        private var forks: [Name: Int]

        init(running: [OpenIntegration], capacity: Int) {
            (self.running, self.capacity) = (running, capacity)
            busy = Set(running.map(BotRef.init))
            forks = running.reduce(into: [:]) { if $1.isFork { $0[$1.id.bot, default: 0] += 1 } }
        }

        /// Chooses among candidates.
        /// - Parameters:
        ///   - candidates: Those of one priority, by age. Those of earlier priorities were added before.
        ///   - priority: Their priority.
        mutating func add(_ candidates: [OpenIntegration], of priority: Int) {
            let before = running.filter { $0.priority <= priority }
            var room = capacity - before.count - chosen.count
            // By bot, the number of integrations that share the capacity with the candidates.
            var load = (before + chosen).reduce(into: [Name: Int]()) { $0[$1.id.bot, default: 0] += 1 }
            var rest = candidates
            // One that may not run now cannot run later in this choice, because refs and places are only taken.
            while room > 0, let least = rest.map({ load[$0.id.bot, default: 0] }).min() {
                var later: [OpenIntegration] = []
                for candidate in rest where room > 0 {
                    guard load[candidate.id.bot, default: 0] == least else {
                        later.append(candidate)
                        continue
                    }
                    guard mayRun(candidate) else { continue }
                    chosen.append(candidate)
                    busy.insert(BotRef(candidate))
                    if candidate.isFork { forks[candidate.id.bot, default: 0] += 1 }
                    load[candidate.id.bot, default: 0] += 1
                    room -= 1
                }
                rest = later
            }
        }

        private func mayRun(_ candidate: OpenIntegration) -> Bool {
            guard !busy.contains(BotRef(candidate)) else { return false }
            guard candidate.isFork, candidate.run == 1 else { return true }
            return forks.values.reduce(0, +) < max(1, capacity - 1)
                && forks[candidate.id.bot, default: 0] < max(1, capacity / 2)
        }
    }
}
