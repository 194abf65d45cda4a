/// What many durations of one test come to.
package struct DurationFigures: Hashable, Sendable {
    package var count: Int
    package var median: Duration
    /// 95 of 100 were not longer.
    package var p95: Duration
    /// The median of the newest quarter against the median of the others: 0.5 is half as long again. Nothing below 8 durations,
    /// or where the others took no time.
    package var trend: Double?

    /// - Parameter newestFirst: The durations; nothing comes of none.
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
