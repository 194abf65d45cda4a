import Model

/// Statistics about how long transactions held the writer, from their beginning until they were on disk.
package struct WriterFigures: Hashable, Sendable {
    package private(set) var transactions = 0
    /// The number of transactions that took longer than 5 ms.
    package private(set) var long = 0
    /// The number of transactions whose commit alone took longer than 5 ms: the disk's time for a sync, or for copying the log into the database.
    package private(set) var longCommits = 0
    package private(set) var longest: Duration = .zero
    package private(set) var longestCommit: Duration = .zero
    /// The number of transactions by duration, in steps of 0.25 ms. The last element counts those of 100 ms and longer.
    private var quarters = Array(repeating: 0, count: 401)

    /// The duration that few transactions should exceed: answers to webhooks wait for the writer.
    static let goal: Duration = .milliseconds(5)

    mutating func add(held: Duration, commit: Duration) {
        transactions += 1
        longest = max(longest, held)
        longestCommit = max(longestCommit, commit)
        if held > Self.goal { long += 1 }
        if commit > Self.goal { longCommits += 1 }
        quarters[min(quarters.count - 1, Int(held / .microseconds(250)))] += 1
    }

    /// Returns the duration that this share of the transactions did not exceed. It is rounded up to a multiple of 0.25 ms, and is at most 100.25 ms.
    /// - Parameter share: The share, from 0 to 1.
    package func held(_ share: Double) -> Duration {
        var rest = Int(clamping: (Double(transactions) * share).rounded(.up))
        for (index, count) in quarters.enumerated() {
            rest -= count
            if rest <= 0 { return min(longest, .microseconds(250 * (index + 1))) }
        }
        return longest
    }
}
