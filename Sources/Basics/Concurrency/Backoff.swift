/// A series of waits before further tries. Each wait is twice as long as the one before, up to a limit, and partly random, so that many clients do
/// not retry at once.
package struct Backoff: Sendable {
    private let first: Duration
    private let limit: Duration
    private let jitter: @Sendable () -> Double
    private var following: Duration

    /// Creates a series of waits.
    /// - Parameters:
    ///   - first: The longest first wait.
    ///   - limit: The longest wait of all.
    ///   - jitter: Returns the fraction of the wait to use, between 0 and 1. Default: random between one half and 1, so that no wait is too short.
    package init(
        first: Duration, limit: Duration, jitter: @escaping @Sendable () -> Double = { .random(in: 0.5...1) }
    ) {
        self.first = first
        self.limit = limit
        self.jitter = jitter
        following = min(first, limit)
    }

    /// Returns the next wait, and doubles the following one up to the limit.
    package mutating func next() -> Duration {
        let wait = following * jitter()
        following = following > limit / 2 ? limit : following * 2
        return wait
    }

    /// Starts again with the first wait. Call it after a success.
    package mutating func reset() { following = min(first, limit) }
}
