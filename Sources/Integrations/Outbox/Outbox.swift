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
    private var troubled: [OutboxPlace: Trouble] = [:]
    /// How many messages in a row failed by themselves.
    private var ownFailures: [OutboxPlace: Int] = [:]
    /// What came of tries, as far as that could not be stored.
    private var unsettled: [OutboxPlace: (message: OutboxMessage, settlement: OutboxSettlement)] = [:]
    /// The bots that the service does not know, since when, and when that was seen last.
    private var absent: [Name: (since: Timestamp, seen: Timestamp)] = [:]
    /// The times for which somebody sleeps.
    private var alarms: Set<Timestamp> = []
    /// Failures before this were another daemon's: nobody tried in between.
    private var startedAt: Timestamp?
    /// Messages that came to their end since old ones were removed.
    private var settled = 0

    /// Destinations at one time. 16: a hundred forges that take half a second each are served in 3 s.
    package static let maximumActive = 16
    /// Of them at most these are ones whose last try failed, so that silent ones never take all places.
    package static let maximumTroubled = 8
    /// The first pause is up to 2 s, each one twice the one before, up to 5 min, scattered: as for git servers (decision 0017).
    package static let firstPause = Duration.seconds(2)
    package static let longestPause = Duration.seconds(300)
    /// What a service may ask to be left alone for; GitHub's longest is an hour. One that wants longer is asked all the same, so that four
    /// tries fit into the time after which a message is given up.
    package static let longestRetryAfter = Duration.seconds(6 * 3600)
    /// How long a message is tried from its first failure, or the daemon's start, on; then it is given up. So is, with it, what waits that
    /// long for a destination that failed all the time.
    package static let patience = Duration.seconds(24 * 3600)
    /// Nothing is given up before so many failures, whatever the clock says.
    package static let leastTries = 5
    /// What waits longer for a destination that fails is given up, however often the daemon was started meanwhile.
    package static let longestAge = Duration.seconds(7 * 86_400)
    /// So many messages that fail one after the other are their destination's failure.
    package static let mostOwnFailures = 5
    /// How long a bot may be missing, as while its file is being replaced, before its messages are dropped.
    package static let longestAbsence = Duration.seconds(600)
    /// When the store could not be read it is read again after this.
    package static let storePause = Duration.seconds(60)
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
        startedAt = clock.now()
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
        // What comes to its end while the places are read is not among them, and keeps its trouble until the next round.
        let idle = Set(troubled.keys).subtracting(active.keys)
        do {
            waiting = try await store.outboxPlaces()
        } catch {
            logger.error("the outbox cannot be read", metadata: ["error": "\(error)"])
            return ([], newAlarm(clock.now() + Self.storePause))
        }
        let now = clock.now()
        for place in unsettled.keys { waiting[place] = min(waiting[place] ?? now, now) }
        troubled = troubled.filter { waiting[$0.key] != nil || !idle.contains($0.key) }
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
        return (places, earliest.flatMap(newAlarm))
    }

    /// - Returns: Nothing where somebody sleeps until then or shorter.
    private func newAlarm(_ time: Timestamp) -> Timestamp? {
        guard !alarms.contains(where: { $0 <= time }) else { return nil }
        alarms.insert(time)
        return time
    }

    private func sleep(until time: Timestamp) async {
        // Cancelled: the daemon stops.
        do { try await timer.sleep(for: max(.zero, time - clock.now())) } catch { return }
        alarms.remove(time)
        wakeup.ring()
    }

    /// Sends what is due to one destination, until nothing is, or it fails.
    private func drain(_ place: OutboxPlace) async {
        defer {
            active[place] = nil
            wakeup.ring()
        }
        do {
            if let kept = unsettled[place] { try await settle(kept.message, as: kept.settlement, place) }
            while !Task.isCancelled, try await sendNext(to: place) {}
        } catch {
            logger.error(
                "sending stopped", metadata: ["destination": "\(place.name)", "error": "\(error)"])
            pause(place, for: nil)
        }
    }

    /// What cannot be stored is kept, and stored before anything else is sent there. A daemon that ends before leaves it as what may
    /// have arrived.
    private func settle(
        _ message: OutboxMessage, as settlement: OutboxSettlement, _ place: OutboxPlace
    ) async throws {
        unsettled[place] = (message, settlement)
        try await store.settle(message, as: settlement, at: clock.now())
        unsettled[place] = nil
        settled += 1
        guard settled >= Self.trimInterval else { return }
        settled = 0
        try await store.trimOutbox(keeping: Self.keptRows, endedAfter: clock.now() + (.zero - Self.keptTime))
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
        if outcome != .absent { absent[message.bot] = nil }
        let settlement: OutboxSettlement
        var goesOn = true
        switch outcome {
        case .interrupted: return false
        case .absent: settlement = absence(message)
        case .sent(let note):
            isWell(place)
            settlement = .sent(note: note)
        case .unneeded(let reason): settlement = .unneeded(reason: reason)
        case .refused(let reason):
            isWell(place)
            logger.warning(
                "a message was refused", metadata: ["message": "\(message.id)", "reason": "\(reason)"])
            settlement = .givenUp(reason: reason)
        case .failed(let failure):
            goesOn = !isOfDestination(failure, place)
            settlement = again(message, failure, at: place, isPaused: !goesOn)
        }
        try await settle(message, as: settlement, place)
        if !goesOn { try await expire(place) }
        return goesOn
    }

    private func isWell(_ place: OutboxPlace) {
        troubled[place] = nil
        ownFailures[place] = nil
    }

    /// Where one message after the other fails it is not theirs.
    private func isOfDestination(_ failure: OutboxFailure, _ place: OutboxPlace) -> Bool {
        if failure.isOfDestination { return true }
        ownFailures[place, default: 0] += 1
        if ownFailures[place, default: 0] >= Self.mostOwnFailures { return true }
        troubled[place] = nil
        return false
    }

    private func again(
        _ message: OutboxMessage, _ failure: OutboxFailure, at place: OutboxPlace, isPaused: Bool
    ) -> OutboxSettlement {
        let now = clock.now()
        var next = now + wait(after: message.tries, failure)
        if isPaused { next = max(next, pause(place, for: failure.retryAfter)) }
        let since = max(message.failedAt ?? now, startedAt ?? now)
        guard now - since >= Self.patience, message.tries >= Self.leastTries else {
            return .again(
                at: next, reason: failure.reason, isUncertain: message.isUncertain || failure.mayHaveArrived)
        }
        return .givenUp(
            reason: "given up after \(message.tries) tries in \(Self.patience.components.seconds / 3600) h; "
                + "the last: \(failure.reason); once that is mended, `martlet outbox --retry \(message.id)`",
            mayHaveArrived: failure.mayHaveArrived)
    }

    /// A file that is being replaced is missing for a moment.
    private func absence(_ message: OutboxMessage) -> OutboxSettlement {
        let now = clock.now()
        var absence = absent[message.bot] ?? (now, now)
        if now - absence.seen > Self.longestAbsence { absence.since = now }
        absence.seen = now
        absent[message.bot] = absence
        guard now - absence.since >= Self.longestAbsence else {
            return .again(
                at: now + wait(after: message.tries, OutboxFailure("")),
                reason: "there is no bot \(message.bot) now; it is waited for", isUncertain: message.isUncertain)
        }
        return .unneeded(reason: "there is no bot \(message.bot) any more")
    }

    /// Gives up what waits too long for a destination that goes on failing: it is tried once in each pause, whatever waits for it.
    private func expire(_ place: OutboxPlace) async throws {
        guard let trouble = troubled[place], trouble.failures >= Self.leastTries else { return }
        let now = clock.now()
        let age = now - trouble.since >= Self.patience ? Self.patience : Self.longestAge
        let count = try await store.expireMessages(
            for: place, storedBefore: now + (.zero - age),
            reason: "given up: \(place.name) took nothing for \(age.components.seconds / 3600) h; once that is mended, "
                + "`martlet outbox --retry` with its number", at: now)
        guard count > 0 else { return }
        logger.warning(
            "messages were given up", metadata: ["destination": "\(place.name)", "count": "\(count)"])
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
        let now = clock.now()
        var trouble =
            troubled[place]
            ?? Trouble(backoff: Backoff(first: Self.firstPause, limit: Self.longestPause), until: now, since: now)
        let own = trouble.backoff.next()
        trouble.until = now + (wanted.map { max(own, min($0, Self.longestRetryAfter)) } ?? own)
        trouble.failures += 1
        troubled[place] = trouble
        return trouble.until
    }

    /// What is known of a destination whose last try failed.
    private struct Trouble {
        var backoff: Backoff
        var until: Timestamp
        /// The first of these failures.
        var since: Timestamp
        var failures = 0
    }
}
