import Basics
import Model
import Storage

/// What is known of the destinations whose last try failed: since when, and how long each is left alone.
struct OutboxTroubles: Sendable {
    /// One destination's.
    struct Trouble: Sendable {
        fileprivate var backoff: Backoff
        fileprivate(set) var until: Timestamp
        /// The first of these failures.
        let since: Timestamp
        fileprivate(set) var failures = 0
    }

    private var troubles: [OutboxPlace: Trouble] = [:]
    /// How many messages in a row failed by themselves.
    private var ownFailures: [OutboxPlace: Int] = [:]

    subscript(place: OutboxPlace) -> Trouble? { troubles[place] }

    var places: Set<OutboxPlace> { Set(troubles.keys) }

    /// It took a message, or refused it for good.
    mutating func end(_ place: OutboxPlace) {
        troubles[place] = nil
        ownFailures[place] = nil
    }

    /// Nothing waits for it any more.
    mutating func forget(_ place: OutboxPlace) { troubles[place] = nil }

    /// Whether a failure is the destination's: where one message after the other fails it is not theirs.
    mutating func isOfDestination(_ failure: OutboxFailure, _ place: OutboxPlace) -> Bool {
        if failure.isOfDestination { return true }
        ownFailures[place, default: 0] += 1
        if ownFailures[place, default: 0] >= Outbox.mostOwnFailures { return true }
        troubles[place] = nil
        return false
    }

    /// Leaves a destination alone for a while.
    /// - Parameter wanted: How long it wants that.
    /// - Returns: Until when.
    @discardableResult
    mutating func pause(_ place: OutboxPlace, for wanted: Duration?, at now: Timestamp) -> Timestamp {
        var trouble = troubles[place] ?? Trouble(backoff: Self.backoff, until: now, since: now)
        trouble.until = now + Self.pause(trouble.backoff.next(), wanted)
        trouble.failures += 1
        troubles[place] = trouble
        return trouble.until
    }

    /// The pause of one message whose destination is well.
    static func wait(after tries: Int, _ failure: OutboxFailure) -> Duration {
        var backoff = backoff
        // Ten doublings are past the longest.
        for _ in 1..<max(1, min(tries, 10)) { _ = backoff.next() }
        return pause(backoff.next(), failure.retryAfter)
    }

    /// As long as a service wants, but not at once again, and not for ever.
    private static func pause(_ own: Duration, _ wanted: Duration?) -> Duration {
        wanted.map { max(own, min($0, Outbox.longestRetryAfter)) } ?? own
    }

    private static var backoff: Backoff { Backoff(first: Outbox.firstPause, limit: Outbox.longestPause) }
}
