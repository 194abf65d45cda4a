/// The tests of an integration. Each test counts once, however many configurations ran it.
package struct TestTally: Hashable, Sendable, Codable {
    /// The number of tests.
    package var tests = 0
    /// The number of configurations that ran tests.
    package var configurations = 0
    /// The number of tests that failed or crashed in a configuration.
    package var failing = 0
    /// The number of tests that were flaky in a configuration and failed in none.
    package var flaky = 0
    /// The number of tests that every configuration skipped.
    package var skipped = 0

    package init() {}

    /// Creates a value from all its properties.
    package init(tests: Int, configurations: Int, failing: Int, flaky: Int, skipped: Int) {
        self.tests = tests
        self.configurations = configurations
        self.failing = failing
        self.flaky = flaky
        self.skipped = skipped
    }

    /// Counts a test.
    /// - Parameter outcomes: Its outcome in each configuration; `nil` where it was not run.
    package mutating func add(_ outcomes: [TestResult.Outcome?]) {
        tests += 1
        var (hasFailed, isFlaky, hasRun) = (false, false, false)
        for case let outcome? in outcomes {
            if outcome.isFailure { hasFailed = true }
            if outcome == .flaky { isFlaky = true }
            if outcome != .skipped { hasRun = true }
        }
        if hasFailed { failing += 1 } else if isFlaky { flaky += 1 }
        if !hasRun { skipped += 1 }
    }

    /// The count as pages, notices and commands show it: `400 tests in 3 configurations, 4 fail, 1 skipped`.
    package var sentence: String {
        var parts = [
            tests.counting("test") + (configurations > 1 ? " in \(configurations.grouped) configurations" : "")
        ]
        if failing > 0 { parts.append("\(failing.grouped) \(failing == 1 ? "fails" : "fail")") }
        if flaky > 0 { parts.append("\(flaky.grouped) flaky") }
        if skipped > 0 { parts.append("\(skipped.grouped) skipped") }
        return parts.joined(separator: ", ")
    }
}
