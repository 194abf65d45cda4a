package import Model
package import Storage

/// What runs and what waits, in the order in which it is expected to start, with the reasons. Estimates assume that each integration takes as long as
/// the median of its branch's last ones, and that nothing else is queued.
package struct QueueForecast: Sendable, Hashable {
    /// An integration that runs or waits, with its estimated times.
    package struct Item: Sendable, Hashable {
        package var integration: IntegrationOutline
        /// Why it waits, in words; `nil` if it runs and waits for nothing.
        package var reason: String?
        /// When it began, or was queued.
        package var since: Timestamp
        /// When it began, or is expected to; `nil` if that is unknown.
        package var start: Timestamp?
        /// When it is expected to end; `nil` if that is unknown. It may have passed already.
        package var end: Timestamp?
        /// How long an integration of its branch usually takes; `nil` if none has ended.
        package var usual: Duration?
    }

    package var running: [Item]
    /// The next ones, the first to start first.
    package var waiting: [Item]
    /// The number of those that wait and are not in `waiting`.
    package var more: Int
    /// The number of jobs that run at once.
    package var slots: Int

    /// The most integrations that a forecast has of each kind.
    package static let maximumItems = 100

    /// - Parameters:
    ///   - capacity: See `Scheduler.choose`.
    ///   - shortage: What the disk is short of; `nil` if it has room.
    init(
        running: [QueueEntry], queued: [QueueEntry], total: Int, capacity: Int, shortage: String?, now: Timestamp
    ) {
        slots = max(1, capacity - 1)
        let busy = Self.busy(slots)
        self.running = running.map { entry in
            let usual = entry.past.median
            let begin = entry.outline.startedAt ?? entry.outline.queuedAt
            let waits =
                entry.waitingJobs > 0 && entry.runningJobs == 0 ? shortage.map { "waits for room: \($0)" } ?? busy : nil
            return Item(
                integration: entry.outline, reason: entry.outline.reason ?? waits, since: begin, start: begin,
                end: usual.map { begin + $0 }, usual: usual)
        }
        var course = Course(running: running, now: now)
        var items: [Item] = []
        var rest = queued
        while !rest.isEmpty {
            let started = Set(
                Scheduler.choose(from: rest.map(\.open), running: course.active.map(\.open), capacity: capacity).map(
                    \.id))
            for entry in rest where started.contains(entry.open.id) {
                let usual = entry.past.median
                let end = usual.map { course.time + $0 }
                items.append(
                    Item(
                        integration: entry.outline,
                        reason: Self.reason(entry.open, running: running, queued: queued, capacity: capacity, shortage),
                        since: entry.outline.queuedAt, start: course.time, end: end, usual: usual))
                course.active.append((entry.open, end))
            }
            rest.removeAll { started.contains($0.open.id) }
            if started.isEmpty, !course.advance() { break }
        }
        // What an integration of unknown length holds up.
        let ordered = rest.sorted {
            (Scheduler.priority(of: $0.open), $0.open.rowID) < (Scheduler.priority(of: $1.open), $1.open.rowID)
        }
        items += ordered.map { entry in
            Item(
                integration: entry.outline,
                reason: Self.reason(entry.open, running: running, queued: queued, capacity: capacity, shortage),
                since: entry.outline.queuedAt, start: nil, end: nil, usual: entry.past.median)
        }
        waiting = items
        more = max(0, total - items.count)
    }

    /// What runs at a time of the forecast.
    private struct Course {
        var active: [(open: OpenIntegration, end: Timestamp?)]
        var time: Timestamp

        init(running: [QueueEntry], now: Timestamp) {
            time = now
            active = running.map { entry in
                let begin = entry.outline.startedAt ?? now
                return (entry.open, entry.past.median.map { max(now, begin + $0) })
            }
        }

        /// Goes on to the next end.
        /// - Returns: Whether there is one.
        mutating func advance() -> Bool {
            guard let next = active.compactMap(\.end).min() else { return false }
            time = next
            active.removeAll { $0.end == next }
            return true
        }
    }

    /// Returns why an integration waits now.
    static func reason(
        _ candidate: OpenIntegration, running: [QueueEntry], queued: [QueueEntry], capacity: Int, _ shortage: String?
    ) -> String {
        func isBefore(_ other: OpenIntegration) -> Bool {
            other.id.bot == candidate.id.bot && other.ref == candidate.ref && other.id != candidate.id
        }
        let place = candidate.ref.tag == nil ? "branch" : "tag"
        // The nearest one before it in the queue, which itself waits for those before it.
        let same =
            queued.filter { isBefore($0.open) && $0.open.rowID < candidate.rowID }.max { $0.open.rowID < $1.open.rowID }
            ?? running.first { isBefore($0.open) }
        if let same {
            return "waits for \(same.open.id) on the same \(candidate.ref.pullRequest == nil ? place : "pull request")"
        }
        if let shortage { return "waits for room: \(shortage)" }
        let own = Scheduler.priority(of: candidate)
        let rivals = running.filter { Scheduler.priority(of: $0.open) <= own }
        if rivals.count >= capacity { return busy(max(1, capacity - 1)) }
        let isNext = Scheduler.choose(from: queued.map(\.open), running: running.map(\.open), capacity: capacity)
            .contains { $0.id == candidate.id }
        if isNext { return "is about to start" }
        return candidate.isFork ? "waits for other pull requests from forks" : "waits for those before it"
    }

    private static func busy(_ slots: Int) -> String {
        switch slots {
        case 1: "the slot is busy"
        case 2: "both slots are busy"
        default: "all \(slots) slots are busy"
        }
    }
}

extension UserRequests {
    /// Returns what runs and what waits; see `Operations.queueForecast`.
    func forecast(shortage: String?) async throws(StoreError) -> QueueForecast {
        let entries = try await store.queueEntries(limit: QueueForecast.maximumItems)
        return QueueForecast(
            running: entries.running, queued: entries.queued, total: entries.total, capacity: await scheduler.capacity,
            shortage: shortage, now: clock.now())
    }
}
