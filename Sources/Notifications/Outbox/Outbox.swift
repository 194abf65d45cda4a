import Basics
package import Logging
import Model
package import Storage

/// Sends the messages that wait in the store.
///
/// Messages to one destination are sent one after the other, and those to different ones concurrently. So a slow or silent destination delays only
/// its own. A failed message is tried again after growing pauses. Its state is in its row, so a daemon that is killed at any time is followed by one
/// that continues.
package actor Outbox {
    let store: Store
    let senders: [OutboxDestination.Kind: any OutboxSender]
    let clock: WallClock
    private let timer: any Clock<Duration>
    let logger: Logger
    let limits: OutboxLimits
    /// The destinations that refuse the credentials.
    let access: RefusedAccess
    let signal = Signal()

    /// The destinations to which messages are being sent. The value states whether the last try failed.
    var active: [OutboxPlace: Bool] = [:]
    /// The destinations whose last try failed. This is not stored: the next daemon tries at once.
    var troubles = OutboxTroubles()
    /// The outcomes that could not be stored yet.
    var unsettled: [OutboxPlace: (message: OutboxMessage, settlement: OutboxSettlement)] = [:]
    /// The bots that the service does not know, with the times when each was first and last found missing.
    var absent: [Name: (since: Timestamp, seen: Timestamp)] = [:]
    /// The times for which a task sleeps.
    private var alarms: Set<Timestamp> = []
    /// The start of the daemon, or the end of the last jump of the clock. Failures before it are ignored for the time limits, because no one tried in
    /// between.
    var startedAt: Timestamp?
    private var watch: ClockWatch
    /// Whether the messages that an earlier daemon was sending are waiting again.
    private var isRecovered = false
    /// The number of messages that have ended since old ones were removed.
    var settled = 0

    /// The most destinations at a time. With 16, a hundred forges that take half a second each are served in 3 s.
    package static let maximumActive = 16
    /// The most of them whose last try failed, so that silent destinations never take all places.
    package static let maximumTroubled = 8
    /// The first pause is at most 2 s. Each further pause is twice as long, up to 5 min, and randomized, as for git servers (decision 0017).
    package static let firstPause = Duration.seconds(2)
    package static let longestPause = Duration.seconds(300)
    /// The longest pause that a destination can ask for; GitHub's longest is an hour. After this time it is tried even if it asked for more, so that
    /// four tries fit into the time after which a message is given up.
    package static let longestRetryAfter = Duration.seconds(6 * 3600)
    /// How long a message is tried, from its first failure or the daemon's start, before it is given up. Messages that wait that long for a
    /// destination that failed all the time are given up with it.
    package static let patience = Duration.seconds(24 * 3600)
    /// The least number of failures before a message is given up, whatever the clock says.
    package static let leastTries = 5
    package static let leastTime = Duration.seconds(3600)
    /// The longest time that a message waits for a failing destination, however often the daemon was started meanwhile.
    package static let longestAge = Duration.seconds(7 * 86_400)
    /// The number of messages in a row whose failures count as the destination's failure.
    package static let mostOwnFailures = 5
    /// How long a bot may be missing before its messages are dropped. Its file may be in the process of being replaced.
    package static let longestAbsence = Duration.seconds(600)
    /// The pause after which the store is read again if it could not be read.
    package static let storePause = Duration.seconds(60)

    /// - Parameters:
    ///   - limits: The limits for the rows that are kept.
    ///   - access: Where refused credentials are recorded.
    package init(
        store: Store, senders: [any OutboxSender], clock: WallClock, timer: any Clock<Duration>, logger: Logger,
        limits: OutboxLimits = OutboxLimits(), access: RefusedAccess = RefusedAccess()
    ) {
        self.access = access
        self.limits = limits
        self.store = store
        self.senders = Dictionary(senders.map { ($0.kind, $0) }) { first, _ in first }
        self.clock = clock
        self.timer = timer
        watch = ClockWatch(timer, at: clock.now())
        self.logger = logger
    }

    /// Sends until the task is canceled. The next daemon continues with the messages that are being sent then.
    package func run() async {
        let changes = store.changes()
        startedAt = clock.now()
        signal.notify()
        await withDiscardingTaskGroup { group in
            group.addTask {
                for await change in changes {
                    if change == .outbox { self.signal.notify() }
                }
            }
            for await _ in signal.notifications {
                let (places, alarm) = await round()
                for place in places { group.addTask { await self.drain(place) } }
                if let alarm {
                    group.addTask { await self.sleep(until: alarm) }
                }
            }
            group.cancelAll()
        }
    }

    /// Makes the messages wait again that an earlier daemon was sending. This comes before anything is sent: later it would also apply to the
    /// messages that this daemon is sending.
    private func recover() async throws {
        guard !isRecovered else { return }
        let count = try await store.recoverOutbox(at: clock.now())
        isRecovered = true
        if count > 0 {
            logger.notice("sending goes on with interrupted messages", metadata: ["count": "\(count)"])
        }
    }

    /// Resets the state after a jump of the clock, as at a start of the daemon: no one tried while the machine slept.
    func noticeJump() {
        let now = clock.now()
        guard let jump = watch.jump(at: now) else { return }
        logger.notice(
            "the clock went on without this machine; what failed before it is tried anew",
            metadata: ["seconds": "\(jump.components.seconds)"])
        startedAt = now
        troubles = OutboxTroubles()
    }

    /// Determines which destinations are due.
    /// - Returns: The destinations to start now, and the time of the next round, unless a task sleeps until then already.
    private func round() async -> (places: [OutboxPlace], alarm: Timestamp?) {
        noticeJump()
        var waiting: [OutboxPlace: Timestamp]
        // A destination that ends while the places are read is not in this set, and keeps its trouble until the next round.
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
        // Destinations that work come first.
        let ordered = waiting.sorted {
            (troubles[$0.key] == nil ? 0 : 1, $0.value, $0.key.name) < (
                troubles[$1.key] == nil ? 0 : 1, $1.value, $1.key.name
            )
        }
        for (place, time) in ordered {
            // A time beyond the longest wait was stored while the clock was wrong; `takeMessage` treats it the same way.
            let due =
                [time, troubles[place]?.until ?? time].map { $0 > now + Self.longestRetryAfter ? now : $0 }.max() ?? now
            guard due <= now else {
                earliest = min(earliest ?? due, due)
                continue
            }
            let isTroubled = troubles[place] != nil
            // The other destinations are checked again when one of these has ended.
            guard active.count < Self.maximumActive,
                !isTroubled || active.values.count(where: { $0 }) < Self.maximumTroubled
            else { continue }
            active[place] = isTroubled
            places.append(place)
        }
        return (places, earliest.flatMap(newAlarm))
    }

    /// Records a time to sleep until.
    /// - Returns: `nil` if a task sleeps until then or a shorter time.
    private func newAlarm(_ time: Timestamp) -> Timestamp? {
        guard !alarms.contains(where: { $0 <= time }) else { return nil }
        alarms.insert(time)
        return time
    }

    private func sleep(until time: Timestamp) async {
        // The task is canceled: the daemon stops.
        do { try await timer.sleep(for: max(.zero, time - clock.now())) } catch { return }
        alarms.remove(time)
        signal.notify()
    }
}

/// The limits for the rows of the outbox that are kept.
package struct OutboxLimits: Sendable, Hashable {
    /// The most messages that wait for one failing destination; the oldest ones above that are given up. A message is a row of about 600 bytes.
    package var waitingRows = 10_000
    /// The most messages that are kept after they have ended.
    package var keptRows = 10_000
    package var keptTime = Duration.seconds(14 * 86_400)
    /// The number of ended messages after which old rows are removed.
    package var trimInterval = 500

    package init() {}
}

/// Detects when the wall clock jumps forward or back against the elapsed time, because the machine slept or its clock was set.
struct ClockWatch: Sendable {
    /// The largest difference that is ignored: clocks are adjusted by seconds now and then.
    static let slack = Duration.seconds(600)

    private let lived: @Sendable () -> Duration
    /// The wall clock's time at which the elapsed time was zero.
    private var origin: Timestamp

    /// - Parameter timer: The clock with which the caller waits. `ContinuousClock` also counts a machine's sleep, so `SuspendingClock` replaces it
    ///   here.
    init(_ timer: any Clock<Duration>, at now: Timestamp) {
        lived = timer is ContinuousClock ? Self.stopwatch(SuspendingClock()) : Self.stopwatch(timer)
        origin = now
    }

    /// Returns the jump since the last one that was returned; `nil` if the clocks agree.
    mutating func jump(at now: Timestamp) -> Duration? {
        let lived = lived()
        let jump = now - origin - lived
        guard jump > Self.slack || jump < .zero - Self.slack else { return nil }
        origin = now + (.zero - lived)
        return jump
    }

    private static func stopwatch<Timer: Clock>(
        _ timer: Timer
    ) -> @Sendable () -> Duration where Timer.Duration == Duration {
        let start = timer.now
        return { start.duration(to: timer.now) }
    }
}
