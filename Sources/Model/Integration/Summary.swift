/// The counts of an integration or a job. `tests` counts all tests that ran, including failed ones but not skipped ones. Each flaky test also counts
/// as a warning.
package struct Counts: Hashable, Sendable, Codable {
    package var errors = 0
    package var warnings = 0
    package var analyzerWarnings = 0
    package var testFailures = 0
    package var tests = 0
    package var flakyTests = 0

    package init() {}

    /// Decodes counts. Those that were stored before flaky tests were counted have 0 flaky tests.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        errors = try container.decode(Int.self, forKey: .errors)
        warnings = try container.decode(Int.self, forKey: .warnings)
        analyzerWarnings = try container.decode(Int.self, forKey: .analyzerWarnings)
        testFailures = try container.decode(Int.self, forKey: .testFailures)
        tests = try container.decode(Int.self, forKey: .tests)
        flakyTests = try container.decodeIfPresent(Int.self, forKey: .flakyTests) ?? 0
    }

    package static func - (left: Counts, right: Counts) -> Counts {
        var difference = Counts()
        difference.errors = left.errors - right.errors
        difference.warnings = left.warnings - right.warnings
        difference.analyzerWarnings = left.analyzerWarnings - right.analyzerWarnings
        difference.testFailures = left.testFailures - right.testFailures
        difference.tests = left.tests - right.tests
        difference.flakyTests = left.flakyTests - right.flakyTests
        return difference
    }
}

/// The counts and their change from the branch's previous integration. The change is zero if there is no previous one.
package struct Summary: Hashable, Sendable, Codable {
    package var counts: Counts
    package var change: Counts
    /// The tests, each counted once; `nil` for a job, and for an integration without tests or of an older version.
    package var tally: TestTally?

    package init(counts: Counts = Counts(), change: Counts = Counts(), tally: TestTally? = nil) {
        self.counts = counts
        self.change = change
        self.tally = tally
    }

    /// The number of tests, each counted once; without a tally those of each configuration.
    package var testCount: Int { tally?.tests ?? counts.tests }
    /// The number of tests that failed, each counted once; without a tally those of each configuration.
    package var failingTestCount: Int { tally?.failing ?? counts.testFailures }

    /// The count of the tests in words, `nil` if no test is known. Without a tally each configuration's tests are counted: `12 tests, 1 fails`.
    package var testSentence: String? {
        if let tally { return tally.tests == 0 ? nil : tally.sentence }
        // A failed test command without a report tells of no test.
        if counts.tests == 0 { return nil }
        var tally = TestTally()
        (tally.tests, tally.failing, tally.flaky) = (counts.tests, counts.testFailures, counts.flakyTests)
        return tally.sentence
    }
}
