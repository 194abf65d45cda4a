package import Model

/// The history of one test in a bot's integrations.
package struct TestHistory: Hashable, Sendable {
    /// One result of the test.
    package struct Entry: Hashable, Sendable {
        package var integration: IntegrationID
        package var ref: RefName
        package var commit: CommitID
        /// When the integration ended.
        package var at: Timestamp
        package var configuration: Name
        package var attempt: Int
        package var outcome: TestResult.Outcome
        /// The duration, rounded to three digits; `nil` if the test did not pass.
        package var duration: Duration?
        /// The reason why the test did not pass.
        package var message: String?
    }

    package var suite: String
    package var name: String
    /// The newest integration first, and in each the configurations by name. For each configuration only the last attempt counts.
    package var entries: [Entry]
    /// The cursor of the older entries, for `before:`; `nil` if there are none.
    package var next: Int64?

    package var fullName: String { suite.isEmpty ? name : suite + "/" + name }

    /// The summary of one configuration's entries.
    package struct Configuration: Hashable, Sendable {
        package var name: Name
        /// The newest entry.
        package var latest: Entry
        /// The number of consecutive failures up to the newest entry, on that entry's branch.
        package var failing: Int
        package var durations: DurationFigures?
        package var outcomes: [TestResult.Outcome: Int]
    }

    /// The configurations that ran the test, by name.
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

/// A stored failure of a test, which is kept even when a later attempt passed.
package struct TestFailure: Hashable, Sendable {
    package var integration: IntegrationID
    package var ref: RefName
    package var commit: CommitID
    package var at: Timestamp
    package var configuration: Name
    package var attempt: Int
    /// The result with its message and place.
    package var result: TestResult
}

/// An integration's tests as rows and configurations as columns.
package struct TestGrid: Hashable, Sendable {
    /// The columns.
    package var configurations: [Name]
    /// The rows by rank, then in the order in which the bot first ran the tests.
    package var rows: [TestSpread]
    /// The number of rows including tests that passed everywhere.
    package var total: Int
    /// The number of requested rows after these.
    package var more: Int
}

/// A test that passed and failed without a change that explains it.
package struct FlakyTest: Hashable, Sendable {
    package var suite: String
    package var name: String
    /// The number of integrations in which the test failed and passed on one commit.
    package var flaky: Int
    /// The number of changes between passing and failing from one integration of a branch to the next.
    package var changes: Int
    package var configurations: [Name]
    /// The newest integration in which either happened.
    package var latest: IntegrationID

    package var fullName: String { suite.isEmpty ? name : suite + "/" + name }
}

/// The flaky tests of a bot.
package struct FlakyTestList: Hashable, Sendable {
    /// The tests, the most often flaky first.
    package var tests: [FlakyTest]
    /// The number of checked integrations that ran tests.
    package var integrations: Int
}

/// A test of a bot with its outcomes in the newest integration that ran any test.
package struct NamedTest: Hashable, Sendable {
    package var id: Int64
    package var spread: TestSpread
}

/// A part of a bot's tests.
package struct NamedTestList: Hashable, Sendable {
    /// The integration of the outcomes; `nil` if no integration ran a test.
    package var integration: IntegrationID?
    package var configurations: [Name]
    package var tests: [NamedTest]
    /// The cursor that continues the list as `after:`; `nil` at its end.
    package var next: Int64?
}
