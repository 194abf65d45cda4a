/// The result of one test in one configuration.
package struct TestResult: Hashable, Sendable, Codable {
    /// How the test ended. The raw values are the words of the JSON interface.
    package enum Outcome: String, Sendable, Codable, CaseIterable {
        case passed, failed, skipped, crashed, flaky, knownIssue

        /// Whether it makes an integration fail.
        package var isFailure: Bool { self == .failed || self == .crashed }
    }

    /// The class, suite or file: `KitTests.ParserTests`. Empty if the test has none.
    package var suite: String
    package var name: String
    package var outcome: Outcome
    /// The duration; `nil` if the tool does not report it.
    package var duration: Duration?
    /// The failure messages, or why the test was skipped; for a crash, the signal.
    package var message: String?
    package var path: String?
    package var line: Int?

    package init(
        suite: String, name: String, outcome: Outcome, duration: Duration? = nil, message: String? = nil,
        path: String? = nil, line: Int? = nil
    ) {
        self.suite = suite
        self.name = name
        self.outcome = outcome
        self.duration = duration
        self.message = message
        self.path = path
        self.line = line
    }

    /// The suite and the name, which identify the test across integrations.
    package var fullName: String { suite.isEmpty ? name : suite + "/" + name }
}

/// The outcomes of one test in the configurations of an integration.
package struct TestSpread: Hashable, Sendable {
    package var suite: String
    package var name: String
    /// The outcomes in the order of the integration's configurations; `nil` where the test was not run.
    package var outcomes: [TestResult.Outcome?]

    package init(suite: String, name: String, outcomes: [TestResult.Outcome?]) {
        self.suite = suite
        self.name = name
        self.outcomes = outcomes
    }

    package var fullName: String { suite.isEmpty ? name : suite + "/" + name }

    /// The rank by importance: 0 fails, 1 is flaky, 2 differs between configurations, 3 is the same everywhere but not passed, 4 passed everywhere.
    package var rank: Int { Self.rank(of: outcomes) }

    /// The rank of a test that passed everywhere.
    package static let lowestRank = 4

    /// Returns the rank of these outcomes.
    package static func rank(of outcomes: [TestResult.Outcome?]) -> Int {
        if outcomes.contains(where: { $0?.isFailure == true }) { return 0 }
        if outcomes.contains(.flaky) { return 1 }
        guard let first = outcomes.first, outcomes.allSatisfy({ $0 == first }) else { return 2 }
        return first == .passed ? lowestRank : 3
    }

    /// Describes the outcomes: `fails only in release`, `passes only in debug`, `fails everywhere`, `flaky in debug; not run in release`.
    /// - Parameter configurations: The names of the configurations, in the order of the outcomes.
    package func sentence(_ configurations: [Name]) -> String {
        func names(_ isMeant: (TestResult.Outcome?) -> Bool) -> [String] {
            zip(configurations, outcomes).filter { isMeant($0.1) }.map(\.0.description)
        }
        guard outcomes.contains(where: { $0 != nil }) else { return "not run" }
        let failing = names { $0?.isFailure == true }
        let passing = names { $0 == .passed || $0 == .flaky }
        let crashes = failing.count == names { $0 == .crashed }.count
        var parts: [String] = []
        if !failing.isEmpty {
            if failing.count > 1, passing.count == 1, failing.count + 1 == outcomes.count {
                parts.append("passes only in \(passing[0])")
            } else {
                parts.append((crashes ? "crashes " : "fails ") + place(failing))
            }
        }
        for (words, outcome) in [("flaky ", TestResult.Outcome.flaky), ("a known issue ", .knownIssue)] {
            let those = names { $0 == outcome }
            if !those.isEmpty { parts.append(words + place(those)) }
        }
        for (words, outcome) in [("skipped ", TestResult.Outcome.skipped), ("not run ", nil)] {
            let those = names { $0 == outcome }
            if !those.isEmpty {
                parts.append(words + (those.count == outcomes.count ? "everywhere" : Self.list(those)))
            }
        }
        return parts.isEmpty ? "passes everywhere" : parts.joined(separator: "; ")
    }

    /// Describes configurations: `everywhere`, `only in release` or `in debug and release`.
    private func place(_ names: [String]) -> String {
        if names.count == outcomes.count { return outcomes.count == 1 ? Self.list(names) : "everywhere" }
        return (names.count == 1 ? "only " : "") + Self.list(names)
    }

    private static func list(_ names: [String]) -> String {
        guard let last = names.last, names.count > 1 else { return "in " + names.joined() }
        return "in \(names.dropLast().joined(separator: ", ")) and \(last)"
    }
}

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
