/// How long to wait before trying again: twice as long each time, up to a limit, scattered so that many do not come at
/// once.
package struct Backoff: Sendable {
    private let first: Duration
    private let limit: Duration
    private let jitter: @Sendable () -> Double
    private var following: Duration

    /// - Parameters:
    ///   - first: The longest first wait.
    ///   - limit: The longest wait of all.
    ///   - jitter: The part of the wait that is taken, between 0 and 1. Default: at random from one half to the whole, so a
    ///     wait is never so short that it hammers.
    package init(
        first: Duration, limit: Duration, jitter: @escaping @Sendable () -> Double = { .random(in: 0.5...1) }
    ) {
        self.first = first
        self.limit = limit
        self.jitter = jitter
        following = min(first, limit)
    }

    /// The next wait.
    package mutating func next() -> Duration {
        let wait = following * jitter()
        following = following > limit / 2 ? limit : following * 2
        return wait
    }

    /// Begins anew after a success.
    package mutating func reset() { following = min(first, limit) }
}
