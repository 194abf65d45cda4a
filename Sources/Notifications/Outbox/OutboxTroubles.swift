import Basics
import Model
import Storage

/// The destinations whose last try failed: since when each fails, and how long it is not tried.
struct OutboxTroubles: Sendable {
    /// The trouble of one destination.
    struct Trouble: Sendable {
        fileprivate var backoff: Backoff
        fileprivate(set) var until: Timestamp
        /// The time of the first of these failures.
        let since: Timestamp
        fileprivate(set) var failures = 0
    }

    private var troubles: [OutboxPlace: Trouble] = [:]
    /// The number of messages in a row whose failures were their own.
    private var ownFailures: [OutboxPlace: Int] = [:]

    subscript(place: OutboxPlace) -> Trouble? { troubles[place] }

    var places: Set<OutboxPlace> { Set(troubles.keys) }

    /// Ends the trouble of a destination, because it accepted a message or refused one permanently.
    mutating func end(_ place: OutboxPlace) {
        troubles[place] = nil
        ownFailures[place] = nil
    }

    /// Removes the trouble of a destination without waiting messages.
    mutating func forget(_ place: OutboxPlace) { troubles[place] = nil }

    /// Whether a failure is the destination's. It is if it says so, or if several messages in a row fail.
    mutating func isOfDestination(_ failure: OutboxFailure, _ place: OutboxPlace) -> Bool {
        if failure.isOfDestination { return true }
        ownFailures[place, default: 0] += 1
        if ownFailures[place, default: 0] >= Outbox.mostOwnFailures { return true }
        troubles[place] = nil
        return false
    }

    /// Stops tries to a destination for a while.
    /// - Parameter wanted: The pause that it asked for; `nil` if it asked for none.
    /// - Returns: The end of the pause.
    @discardableResult
    mutating func pause(_ place: OutboxPlace, for wanted: Duration?, at now: Timestamp) -> Timestamp {
        var trouble = troubles[place] ?? Trouble(backoff: Self.backoff, until: now, since: now)
        trouble.until = now + Self.pause(trouble.backoff.next(), wanted)
        trouble.failures += 1
        troubles[place] = trouble
        return trouble.until
    }

    /// Returns the pause of one message whose destination works.
    static func wait(after tries: Int, _ failure: OutboxFailure) -> Duration {
        var backoff = backoff
        // Ten doublings exceed the longest pause.
        for _ in 1..<max(1, min(tries, 10)) { _ = backoff.next() }
        return pause(backoff.next(), failure.retryAfter)
    }

    /// Returns the pause that a service asked for, but at least the usual one, and not more than the longest.
    private static func pause(_ own: Duration, _ wanted: Duration?) -> Duration {
        wanted.map { max(own, min($0, Outbox.longestRetryAfter)) } ?? own
    }

    private static var backoff: Backoff { Backoff(first: Outbox.firstPause, limit: Outbox.longestPause) }
}
