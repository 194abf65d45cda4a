package import Model

/// One test's life through a bot's integrations.
package struct TestHistory: Hashable, Sendable {
    /// How it ended once.
    package struct Entry: Hashable, Sendable {
        package var integration: IntegrationID
        package var ref: RefName
        package var commit: CommitID
        /// When the integration ended.
        package var at: Timestamp
        package var configuration: Name
        package var attempt: Int
        package var outcome: TestResult.Outcome
        /// Of three digits, where the test passed.
        package var duration: Duration?
        /// Why it is not passed.
        package var message: String?
    }

    package var suite: String
    package var name: String
    /// The newest integration first, in each the configurations by name. Of each configuration the last attempt counts.
    package var entries: [Entry]
    /// Given as `before:`, the older ones; nothing at the beginning.
    package var next: Int64?

    package var fullName: String { suite.isEmpty ? name : suite + "/" + name }

    /// What one configuration's entries come to.
    package struct Configuration: Hashable, Sendable {
        package var name: Name
        /// The newest.
        package var latest: Entry
        /// How many of the newest of the latest one's branch fail in a row, as it does.
        package var failing: Int
        package var durations: DurationFigures?
        package var outcomes: [TestResult.Outcome: Int]
    }

    /// The configurations in which it was run, by name.
    package var configurations: [Configuration] {
        Dictionary(grouping: entries, by: \.configuration).sorted { $0.key < $1.key }.compactMap { name, entries in
            guard let latest = entries.first else { return nil }
            return Configuration(
                name: name, latest: latest,
                failing: entries.filter { $0.ref == latest.ref }.prefix { $0.outcome.isFailure }.count,
                durations: DurationFigures(entries.filter { $0.outcome != .skipped }.compactMap(\.duration)),
                outcomes: Dictionary(entries.map { ($0.outcome, 1) }, uniquingKeysWith: +))
        }
    }
}

/// A failure of a test that is remembered, also when a later attempt passed.
package struct TestFailure: Hashable, Sendable {
    package var integration: IntegrationID
    package var ref: RefName
    package var commit: CommitID
    package var at: Timestamp
    package var configuration: Name
    package var attempt: Int
    /// With its message and place.
    package var result: TestResult
}

/// Tests × configurations of an integration.
package struct TestGrid: Hashable, Sendable {
    /// The columns.
    package var configurations: [Name]
    /// By rank, then in the order in which the bot first had them.
    package var rows: [TestSpread]
    /// How many rows there would be with those that passed everywhere.
    package var total: Int
    /// How many of the rows asked for come after these.
    package var more: Int
}

/// A test that passed and failed without a reason in what was committed.
package struct FlakyTest: Hashable, Sendable {
    package var suite: String
    package var name: String
    /// In how many integrations it failed and passed on one commit.
    package var flaky: Int
    /// How often it went from passing to failing or back, from one integration of a branch to the next.
    package var changes: Int
    package var configurations: [Name]
    /// The newest integration in which it did either.
    package var latest: IntegrationID

    package var fullName: String { suite.isEmpty ? name : suite + "/" + name }
}

/// The flaky tests of a bot.
package struct FlakyTestList: Hashable, Sendable {
    /// The most often flaky ones first.
    package var tests: [FlakyTest]
    /// How many integrations that ran tests were looked at.
    package var integrations: Int
}

/// A test of a bot with its outcomes in the newest integration that ran any.
package struct NamedTest: Hashable, Sendable {
    package var id: Int64
    package var spread: TestSpread
}

/// A part of a bot's tests.
package struct NamedTestList: Hashable, Sendable {
    /// That the outcomes are of; nothing when no integration ran a test.
    package var integration: IntegrationID?
    package var configurations: [Name]
    package var tests: [NamedTest]
    /// Given as `after:`, it continues the list; nothing at its end.
    package var next: Int64?
}
