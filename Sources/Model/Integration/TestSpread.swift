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
