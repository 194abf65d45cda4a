import Basics
package import Logging
import Model
package import Storage

/// Brings what waits in the store to where it is to be told.
///
/// Messages of one destination go one after the other, those of different ones side by side, so that whoever is slow or silent only
/// holds up its own. What failed is tried again after pauses that grow; everything that is known of a message is in its row, so that a
/// daemon that is killed anywhere is followed by one that goes on from there.
package actor Outbox {
    private let store: Store
    private let senders: [OutboxDestination.Kind: any OutboxSender]
    private let clock: WallClock
    private let timer: any Clock<Duration>
    private let logger: Logger
    private let wakeup = Wakeup()

    /// Those that are being sent to now; the value says whether their last try failed.
    private var active: [OutboxPlace: Bool] = [:]
    /// Those whose last try failed. What they know is lost with the daemon: the next one tries at once.
    private var troubled: [OutboxPlace: (backoff: Backoff, until: Timestamp)] = [:]
    /// The next time at which something is due, as far as somebody sleeps for it.
    private var alarm: Timestamp?
    /// Messages that came to their end since old ones were removed.
    private var settled = 0

    /// Destinations at one time. 16: a hundred forges that take half a second each are served in 3 s.
    package static let maximumActive = 16
    /// Of them at most these are ones whose last try failed, so that silent ones never take all places.
    package static let maximumTroubled = 8
    /// The first pause is up to 2 s, each one twice the one before, up to 5 min, scattered: as for git servers (decision 0017).
    package static let firstPause = Duration.seconds(2)
    package static let longestPause = Duration.seconds(300)
    /// What a service may ask to be left alone for; GitHub's longest is an hour.
    package static let longestRetryAfter = Duration.seconds(6 * 3600)
    /// How long a message is tried; then it is given up.
    package static let patience = Duration.seconds(24 * 3600)
    /// Rows that stay of what came to its end, and how long.
    package static let keptRows = 10_000
    package static let keptTime = Duration.seconds(14 * 86_400)
    /// Old rows are removed after each so many messages.
    private static let trimInterval = 500

    package init(
        store: Store, senders: [any OutboxSender], clock: WallClock, timer: any Clock<Duration>, logger: Logger
    ) {
        self.store = store
        self.senders = Dictionary(senders.map { ($0.kind, $0) }) { first, _ in first }
        self.clock = clock
        self.timer = timer
        self.logger = logger
    }

    /// Sends until the task is cancelled. What is under way then is taken up by the next daemon.
    package func run() async {
        let changes = store.changes()
        await recover()
        wakeup.ring()
        await withDiscardingTaskGroup { group in
            group.addTask {
                for await change in changes {
                    if change == .outbox { self.wakeup.ring() }
                }
            }
            for await _ in wakeup.rings {
                let (places, alarm) = await round()
                for place in places { group.addTask { await self.drain(place) } }
                if let alarm {
                    group.addTask { await self.sleep(until: alarm) }
                }
            }
            group.cancelAll()
        }
    }

    private func recover() async {
        do {
            let count = try await store.recoverOutbox(at: clock.now())
            if count > 0 {
                logger.notice("messages that were being sent are taken up", metadata: ["count": "\(count)"])
            }
        } catch {
            logger.error("the outbox could not be taken up", metadata: ["error": "\(error)"])
        }
    }

    /// - Returns: The destinations to begin with now, and when to look again, where nobody sleeps for that yet.
    private func round() async -> (places: [OutboxPlace], alarm: Timestamp?) {
        var waiting: [OutboxPlace: Timestamp]
        do {
            waiting = try await store.outboxPlaces()
        } catch {
            logger.error("the outbox cannot be read", metadata: ["error": "\(error)"])
            return ([], nil)
        }
        let now = clock.now()
        troubled = troubled.filter { waiting[$0.key] != nil || active[$0.key] != nil }
        waiting = waiting.filter { active[$0.key] == nil && senders[$0.key.kind] != nil }
        var places: [OutboxPlace] = []
        var earliest: Timestamp?
        // Those that work go first.
        let ordered = waiting.sorted {
            (troubled[$0.key] == nil ? 0 : 1, $0.value, $0.key.name) < (
                troubled[$1.key] == nil ? 0 : 1, $1.value, $1.key.name
            )
        }
        for (place, time) in ordered {
            let due = max(time, troubled[place]?.until ?? time)
            guard due <= now || due > now + Self.longestRetryAfter else {
                earliest = min(earliest ?? due, due)
                continue
            }
            let isTroubled = troubled[place] != nil
            // The rest is looked at when one of these has ended.
            guard active.count < Self.maximumActive,
                !isTroubled || active.values.count(where: { $0 }) < Self.maximumTroubled
            else { continue }
            active[place] = isTroubled
            places.append(place)
        }
        guard let earliest, alarm.map({ earliest < $0 }) ?? true else { return (places, nil) }
        alarm = earliest
        return (places, earliest)
    }

    private func sleep(until time: Timestamp) async {
        // Cancelled: the daemon stops.
        do { try await timer.sleep(for: max(.zero, time - clock.now())) } catch { return }
        if alarm == time { alarm = nil }
        wakeup.ring()
    }

    /// Sends what is due to one destination, until nothing is, or it fails.
    private func drain(_ place: OutboxPlace) async {
        defer {
            active[place] = nil
            wakeup.ring()
        }
        do {
            while !Task.isCancelled, try await sendNext(to: place) {}
            if settled >= Self.trimInterval {
                settled = 0
                try await store.trimOutbox(
                    keeping: Self.keptRows, endedAfter: clock.now() + (.zero - Self.keptTime))
            }
        } catch {
            logger.error(
                "sending stopped", metadata: ["destination": "\(place.name)", "error": "\(error)"])
            await putBack(place)
        }
    }

    /// What came of a try could not be stored: it may have arrived, and waits. Where not even that can be stored, the next start does it.
    private func putBack(_ place: OutboxPlace) async {
        let until = pause(place, for: nil)
        do {
            try await store.recoverOutbox(for: place, at: until)
        } catch {
            logger.error(
                "a message cannot be put back", metadata: ["destination": "\(place.name)", "error": "\(error)"])
        }
    }

    /// - Returns: Whether there may be more to send now.
    private func sendNext(to place: OutboxPlace) async throws -> Bool {
        guard let sender = senders[place.kind],
            let message = try await store.takeMessage(
                for: place, at: clock.now(), horizon: Self.longestRetryAfter)
        else { return false }
        var outcome = await sender.send(message)
        // Of somebody else's doing: the daemon goes on.
        if outcome == .interrupted, !Task.isCancelled {
            outcome = .failed(OutboxFailure("the request was broken off", mayHaveArrived: true))
        }
        let settlement: OutboxSettlement
        var goesOn = true
        switch outcome {
        case .interrupted: return false
        case .sent(let note): settlement = .sent(note: note)
        case .unneeded(let reason): settlement = .unneeded(reason: reason)
        case .refused(let reason):
            logger.warning(
                "a message was refused", metadata: ["message": "\(message.id)", "reason": "\(reason)"])
            settlement = .givenUp(reason: reason)
        case .failed(let failure):
            let now = clock.now()
            var next = now + wait(after: message.tries, failure)
            if failure.isOfDestination {
                next = pause(place, for: failure.retryAfter)
                goesOn = false
            }
            if now - message.createdAt >= Self.patience {
                settlement = .givenUp(
                    reason: "given up after \(message.tries) tries in \(Self.patience.components.seconds / 3600) h; "
                        + "the last: \(failure.reason); once that is mended, `martlet outbox --retry \(message.id)`")
            } else {
                settlement = .again(
                    at: next, reason: failure.reason, isUncertain: message.isUncertain || failure.mayHaveArrived)
            }
        }
        if goesOn { troubled[place] = nil }
        try await store.settle(message, as: settlement, at: clock.now())
        settled += 1
        return goesOn
    }

    /// The pause of one message whose destination is well.
    private func wait(after tries: Int, _ failure: OutboxFailure) -> Duration {
        if let wanted = failure.retryAfter { return min(wanted, Self.longestRetryAfter) }
        var backoff = Backoff(first: Self.firstPause, limit: Self.longestPause)
        // Ten doublings are past the longest.
        for _ in 1..<max(1, min(tries, 10)) { _ = backoff.next() }
        return backoff.next()
    }

    /// Leaves a destination alone for a while.
    @discardableResult
    private func pause(_ place: OutboxPlace, for wanted: Duration?) -> Timestamp {
        var backoff = troubled[place]?.backoff ?? Backoff(first: Self.firstPause, limit: Self.longestPause)
        let own = backoff.next()
        let until = clock.now() + (wanted.map { max(own, min($0, Self.longestRetryAfter)) } ?? own)
        troubled[place] = (backoff, until)
        return until
    }
}
