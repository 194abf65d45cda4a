package import Model

/// Part of an integration's tests as a tree: suites, and in each its tests with an outcome for each configuration.
package struct TestTree: Hashable, Sendable {
    /// The tests of one suite that a configuration ran.
    package struct Count: Hashable, Sendable {
        package var tests = 0
        package var failing = 0
        package var flaky = 0
        package var skipped = 0

        mutating func add(_ outcome: TestResult.Outcome) {
            tests += 1
            if outcome.isFailure { failing += 1 }
            if outcome == .flaky { flaky += 1 }
            if outcome == .skipped { skipped += 1 }
        }
    }

    /// A test with its outcomes in the order of the configurations; `nil` where it was not run.
    package struct Test: Hashable, Sendable {
        package var suite: String
        package var name: String
        package var outcomes: [TestResult.Outcome?]
        /// The longest duration of the configurations, with three digits; `nil` if none is known.
        package var duration: Duration?

        package var fullName: String { suite.isEmpty ? name : suite + "/" + name }
    }

    /// A suite, with those of its tests that the part contains.
    package struct Suite: Hashable, Sendable {
        package var name: String
        /// The number of its tests that the filter selects.
        package var total: Int
        /// The number of them that fail in a configuration.
        package var failing: Int
        /// The counts of these tests in the order of the configurations.
        package var counts: [Count]
        package var tests: [Test]
    }

    /// Which tests a tree contains, and in which order.
    package struct Filter: Hashable, Sendable {
        /// A part of the full name; `nil`: any name. ASCII letters match in either case.
        package var text: String?
        /// Whether only tests are selected that fail in a configuration.
        package var isFailing: Bool
        /// Whether the slowest tests come first, in one suite without a name. Otherwise suites with failing tests come first.
        package var isSlowest: Bool

        package init(text: String? = nil, isFailing: Bool = false, isSlowest: Bool = false) {
            self.text = text
            self.isFailing = isFailing
            self.isSlowest = isSlowest
        }
    }

    package var configurations: [Name]
    package var suites: [Suite]
    /// The count of all tests of the integration.
    package var tally: TestTally
    /// The number of tests that the filter selects.
    package var found: Int
    /// The number of selected tests after these.
    package var more: Int

    /// The number of tests of this part.
    package var shown: Int { suites.reduce(0) { $0 + $1.tests.count } }
}
