import Model

/// How long transactions held the writer, from their begin until they were on disk.
package struct WriterFigures: Hashable, Sendable {
    package private(set) var transactions = 0
    /// How many took longer than 5 ms.
    package private(set) var long = 0
    /// Of those, the ones whose commit alone did: the disk's time for a sync, or for copying the log into the database.
    package private(set) var longCommits = 0
    package private(set) var longest: Duration = .zero
    package private(set) var longestCommit: Duration = .zero
    /// How many took less than 1, 2 … quarters of a millisecond; the last: 100 ms and longer.
    private var quarters = Array(repeating: 0, count: 401)

    /// Few transactions should hold the writer for longer: answers to webhooks wait for it.
    static let goal: Duration = .milliseconds(5)

    mutating func add(held: Duration, commit: Duration) {
        transactions += 1
        longest = max(longest, held)
        longestCommit = max(longestCommit, commit)
        if held > Self.goal { long += 1 }
        if commit > Self.goal { longCommits += 1 }
        quarters[min(quarters.count - 1, Int(held / .microseconds(250)))] += 1
    }

    /// What this share of the transactions did not take longer than, to a quarter of a millisecond, 100 ms at most.
    /// - Parameter share: From 0 to 1.
    package func held(_ share: Double) -> Duration {
        var rest = Int(clamping: (Double(transactions) * share).rounded(.up))
        for (index, count) in quarters.enumerated() {
            rest -= count
            if rest <= 0 { return min(longest, .microseconds(250 * (index + 1))) }
        }
        return longest
    }
}
