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
    let store: Store
    let senders: [OutboxDestination.Kind: any OutboxSender]
    let clock: WallClock
    private let timer: any Clock<Duration>
    let logger: Logger
    let limits: OutboxLimits
    let wakeup = Wakeup()

    /// Those that are being sent to now; the value says whether their last try failed.
    var active: [OutboxPlace: Bool] = [:]
    /// Those whose last try failed. What is known of them is lost with the daemon: the next one tries at once.
    var troubles = OutboxTroubles()
    /// What came of tries, as far as that could not be stored.
    var unsettled: [OutboxPlace: (message: OutboxMessage, settlement: OutboxSettlement)] = [:]
    /// The bots that the service does not know, since when, and when that was seen last.
    var absent: [Name: (since: Timestamp, seen: Timestamp)] = [:]
    /// The times for which somebody sleeps.
    private var alarms: Set<Timestamp> = []
    /// Failures before this were another daemon's, or are as good as that: nobody tried in between.
    var startedAt: Timestamp?
    private var watch: ClockWatch
    /// Whether what a daemon before was sending waits again.
    private var isRecovered = false
    /// Messages that came to their end since old ones were removed.
    var settled = 0

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
    /// Nothing is given up before so many failures, whatever the clock says; nor what nobody tried before its destination failed so long.
    package static let leastTries = 5
    package static let leastTime = Duration.seconds(3600)
    /// What waits longer for a destination that fails is given up, however often the daemon was started meanwhile.
    package static let longestAge = Duration.seconds(7 * 86_400)
    /// So many messages that fail one after the other are their destination's failure.
    package static let mostOwnFailures = 5
    /// How long a bot may be missing, as while its file is being replaced, before its messages are dropped.
    package static let longestAbsence = Duration.seconds(600)
    /// When the store could not be read it is read again after this.
    package static let storePause = Duration.seconds(60)

    /// - Parameter limits: Of the rows that stay.
    package init(
        store: Store, senders: [any OutboxSender], clock: WallClock, timer: any Clock<Duration>, logger: Logger,
        limits: OutboxLimits = OutboxLimits()
    ) {
        self.limits = limits
        self.store = store
        self.senders = Dictionary(senders.map { ($0.kind, $0) }) { first, _ in first }
        self.clock = clock
        self.timer = timer
        watch = ClockWatch(timer, at: clock.now())
        self.logger = logger
    }

    /// Sends until the task is cancelled. What is under way then is taken up by the next daemon.
    package func run() async {
        let changes = store.changes()
        startedAt = clock.now()
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

    /// Before anything is sent: afterwards it would take what is being sent by this daemon for what another left.
    private func recover() async throws {
        guard !isRecovered else { return }
        let count = try await store.recoverOutbox(at: clock.now())
        isRecovered = true
        if count > 0 {
            logger.notice("messages that were being sent are taken up", metadata: ["count": "\(count)"])
        }
    }

    /// Where the machine slept, or its clock was set, nobody tried meanwhile: it is as if the daemon had been started now.
    func noticeJump() {
        let now = clock.now()
        guard let jump = watch.jump(at: now) else { return }
        logger.notice(
            "the clock went on without this machine; what failed before it is tried anew",
            metadata: ["seconds": "\(jump.components.seconds)"])
        startedAt = now
        troubles = OutboxTroubles()
    }

    /// - Returns: The destinations to begin with now, and when to look again, where nobody sleeps for that yet.
    private func round() async -> (places: [OutboxPlace], alarm: Timestamp?) {
        noticeJump()
        var waiting: [OutboxPlace: Timestamp]
        // What comes to its end while the places are read is not among them, and keeps its trouble until the next round.
        let idle = troubles.places.subtracting(active.keys)
        do {
            try await recover()
            waiting = try await store.outboxPlaces()
        } catch {
            logger.error("the outbox cannot be read", metadata: ["error": "\(error)"])
            return ([], newAlarm(clock.now() + Self.storePause))
        }
        let now = clock.now()
        for place in unsettled.keys { waiting[place] = min(waiting[place] ?? now, now) }
        for place in idle where waiting[place] == nil { troubles.forget(place) }
        waiting = waiting.filter { active[$0.key] == nil && senders[$0.key.kind] != nil }
        var places: [OutboxPlace] = []
        var earliest: Timestamp?
        // Those that work go first.
        let ordered = waiting.sorted {
            (troubles[$0.key] == nil ? 0 : 1, $0.value, $0.key.name) < (
                troubles[$1.key] == nil ? 0 : 1, $1.value, $1.key.name
            )
        }
        for (place, time) in ordered {
            // What lies beyond the longest wait was stored by a clock that went wrong, as `takeMessage` sees it too.
            let due =
                [time, troubles[place]?.until ?? time].map { $0 > now + Self.longestRetryAfter ? now : $0 }.max() ?? now
            guard due <= now else {
                earliest = min(earliest ?? due, due)
                continue
            }
            let isTroubled = troubles[place] != nil
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
}
