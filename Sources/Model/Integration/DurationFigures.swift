/// Statistics of the durations of one test.
package struct DurationFigures: Hashable, Sendable {
    package var count: Int
    package var median: Duration
    /// The 95th percentile.
    package var p95: Duration
    /// The median of the newest quarter relative to the median of the others: 0.5 means half as long again. `nil` for fewer than 8 durations, or if
    /// the median of the others is 0.
    package var trend: Double?

    /// Computes the statistics.
    /// - Parameter newestFirst: The durations, newest first.
    /// - Returns: `nil` if there are no durations.
    package init?(_ newestFirst: [Duration]) {
        guard !newestFirst.isEmpty else { return nil }
        let sorted = newestFirst.sorted()
        count = sorted.count
        median = sorted[(sorted.count - 1) / 2]
        p95 = sorted[(sorted.count * 95 + 99) / 100 - 1]
        guard count >= 8 else { return }
        let recent = newestFirst.prefix(count / 4).sorted()
        let others = newestFirst.dropFirst(count / 4).sorted()
        let before = others[(others.count - 1) / 2]
        if before > .zero { trend = recent[(recent.count - 1) / 2] / before - 1 }
    }
}
