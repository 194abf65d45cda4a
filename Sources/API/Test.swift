/// The result of a test in one configuration of an integration.
package struct TestCase: Codable, Hashable, Sendable {
    /// The class, suite or file; empty if the test has none.
    package var suite: String
    /// The name in the suite.
    package var name: String
    /// The configuration that ran it.
    package var configuration: String
    /// `passed`, `failed`, `skipped`, `crashed`, `flaky` or `knownIssue`.
    package var outcome: String
    /// How long it took, in seconds; `nil` if the tool does not report it.
    package var duration: Double?
    /// The failure's messages, or why it was skipped; `nil` if there is none.
    package var message: String?
    /// The path of the failure; `nil` if it is unknown.
    package var path: String?
    /// The line of the failure, counted from 1; `nil` if it is unknown.
    package var line: Int?

    /// Creates a value from all its properties.
    package init(
        suite: String, name: String, configuration: String, outcome: String, duration: Double?, message: String?,
        path: String?, line: Int?
    ) {
        self.suite = suite
        self.name = name
        self.configuration = configuration
        self.outcome = outcome
        self.duration = duration
        self.message = message
        self.path = path
        self.line = line
    }
}

/// The outcomes of a test by configuration.
package struct TestOutcomes: Codable, Hashable, Sendable {
    /// The class, suite or file; empty if the test has none.
    package var suite: String
    /// The name in the suite.
    package var name: String
    /// The outcome in each configuration; `nil` where the test was not run. See `TestCase.outcome`.
    package var outcomes: ByName<String?>
    /// The outcomes in words, such as `fails only in release`.
    package var says: String

    /// Creates a value from all its properties.
    package init(suite: String, name: String, outcomes: ByName<String?>, says: String) {
        self.suite = suite
        self.name = name
        self.outcomes = outcomes
        self.says = says
    }
}

/// The tests of an integration as rows, with its configurations as columns.
package struct TestGrid: Codable, Hashable, Sendable {
    /// The names of the configurations.
    package var configurations: [String]
    /// The number of tests that the integration has.
    package var total: Int
    /// The rows: first the tests that fail.
    package var items: [TestOutcomes]
    /// The value of `after` for the next page; `nil` on the last page.
    package var next: String?

    /// Creates a value from all its properties.
    package init(configurations: [String], total: Int, items: [TestOutcomes], next: String?) {
        self.configurations = configurations
        self.total = total
        self.items = items
        self.next = next
    }
}

/// The tests of a bot with their newest outcomes.
package struct NamedTests: Codable, Hashable, Sendable {
    /// The newest integration that has tests, such as `kit#41`; `nil` if there is none.
    package var integration: String?
    /// The names of its configurations.
    package var configurations: [String]
    /// The tests by name.
    package var items: [TestOutcomes]
    /// The value of `after` for the next page; `nil` on the last page.
    package var next: String?

    /// Creates a value from all its properties.
    package init(integration: String?, configurations: [String], items: [TestOutcomes], next: String?) {
        self.integration = integration
        self.configurations = configurations
        self.items = items
        self.next = next
    }
}

/// The flaky tests of a bot.
package struct FlakyTests: Codable, Hashable, Sendable {
    /// The tests, the flakiest first.
    package var items: [Item]
    /// Always `nil`: the list has one page.
    package var next: String?
    /// The number of integrations that were examined.
    package var integrations: Int

    /// A test that failed and passed on one commit, or whose outcome changes often.
    package struct Item: Codable, Hashable, Sendable {
        /// The class, suite or file; empty if the test has none.
        package var suite: String
        /// The name in the suite.
        package var name: String
        /// The number of integrations in which it was flaky.
        package var flaky: Int
        /// The number of changes between passing and failing.
        package var changes: Int
        /// The configurations in which it was flaky or changed.
        package var configurations: [String]
        /// The newest integration in which it was flaky or changed, such as `kit#41`.
        package var latest: String

        /// Creates a value from all its properties.
        package init(suite: String, name: String, flaky: Int, changes: Int, configurations: [String], latest: String) {
            self.suite = suite
            self.name = name
            self.flaky = flaky
            self.changes = changes
            self.configurations = configurations
            self.latest = latest
        }
    }

    /// Creates a value from all its properties.
    package init(items: [Item], next: String?, integrations: Int) {
        self.items = items
        self.next = next
        self.integrations = integrations
    }
}

/// The history of one test in a bot's integrations.
package struct TestHistory: Codable, Hashable, Sendable {
    /// The class, suite or file; empty if the test has none.
    package var suite: String
    /// The name in the suite.
    package var name: String
    /// The configurations that ran the test, by name.
    package var configurations: [Column]
    /// Its outcomes: the newest integration first, and in each the configurations by name.
    package var items: [Entry]
    /// Its last failures, newest first, including those that a later attempt passed.
    package var failures: [Failure]
    /// The value of `before` for older integrations; `nil` if there are none.
    package var next: String?

    /// The summary of one configuration.
    package struct Column: Codable, Hashable, Sendable {
        /// The configuration's name.
        package var name: String
        /// The newest outcome. See `TestCase.outcome`.
        package var outcome: String
        /// The integration with the newest outcome, such as `kit#41`.
        package var integration: String
        /// The number of consecutive failures up to the newest outcome, on that integration's branch.
        package var failing: Int
        /// Statistics of the durations; `nil` if none is known.
        package var durations: Durations?
        /// The number of integrations with each outcome that occurs.
        package var outcomes: ByName<Int>

        /// Creates a value from all its properties.
        package init(
            name: String, outcome: String, integration: String, failing: Int, durations: Durations?,
            outcomes: ByName<Int>
        ) {
            self.name = name
            self.outcome = outcome
            self.integration = integration
            self.failing = failing
            self.durations = durations
            self.outcomes = outcomes
        }
    }

    /// Statistics of the durations of a test.
    package struct Durations: Codable, Hashable, Sendable {
        /// The number of durations.
        package var count: Int
        /// The median in seconds.
        package var median: Double
        /// The 95th percentile in seconds.
        package var p95: Double
        /// Relative growth: 0.5 means that the newest quarter takes 1.5 times as long as the others, by their medians. `nil` for fewer than
        /// 8 durations.
        package var trend: Double?

        /// Creates a value from all its properties.
        package init(count: Int, median: Double, p95: Double, trend: Double?) {
            self.count = count
            self.median = median
            self.p95 = p95
            self.trend = trend
        }
    }

    /// The outcome in one configuration of an integration.
    package struct Entry: Codable, Hashable, Sendable {
        /// The integration, such as `kit#41`.
        package var integration: String
        /// The full name of its ref.
        package var ref: String
        /// Its commit.
        package var commit: String
        /// When it was completed.
        package var ended: Time
        /// The configuration.
        package var configuration: String
        /// The attempt that counts, counted from 1.
        package var attempt: Int
        /// See `TestCase.outcome`.
        package var outcome: String
        /// How long it took, in seconds, rounded to three digits; `nil` if the test did not pass.
        package var duration: Double?
        /// Why the test did not pass; `nil` if it did, or if the tool gives no reason.
        package var message: String?

        /// Creates a value from all its properties.
        package init(
            integration: String, ref: String, commit: String, ended: Time, configuration: String, attempt: Int,
            outcome: String, duration: Double?, message: String?
        ) {
            self.integration = integration
            self.ref = ref
            self.commit = commit
            self.ended = ended
            self.configuration = configuration
            self.attempt = attempt
            self.outcome = outcome
            self.duration = duration
            self.message = message
        }
    }

    /// A failure.
    package struct Failure: Codable, Hashable, Sendable {
        /// The integration, such as `kit#41`.
        package var integration: String
        /// The full name of its ref.
        package var ref: String
        /// Its commit.
        package var commit: String
        /// When it was completed.
        package var ended: Time
        /// The configuration.
        package var configuration: String
        /// The attempt that failed, counted from 1.
        package var attempt: Int
        /// See `TestCase.outcome`.
        package var outcome: String
        /// The failure's messages; `nil` if there are none.
        package var message: String?
        /// The path of the failure; `nil` if it is unknown.
        package var path: String?
        /// The line of the failure, counted from 1; `nil` if it is unknown.
        package var line: Int?

        /// Creates a value from all its properties.
        package init(
            integration: String, ref: String, commit: String, ended: Time, configuration: String, attempt: Int,
            outcome: String, message: String?, path: String?, line: Int?
        ) {
            self.integration = integration
            self.ref = ref
            self.commit = commit
            self.ended = ended
            self.configuration = configuration
            self.attempt = attempt
            self.outcome = outcome
            self.message = message
            self.path = path
            self.line = line
        }
    }

    /// Creates a value from all its properties.
    package init(
        suite: String, name: String, configurations: [Column], items: [Entry], failures: [Failure], next: String?
    ) {
        self.suite = suite
        self.name = name
        self.configurations = configurations
        self.items = items
        self.failures = failures
        self.next = next
    }
}
