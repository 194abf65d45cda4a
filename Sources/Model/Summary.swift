/// The counts of an integration or a job. `tests` counts all that ran, failed ones among them, skipped ones not.
package struct Counts: Hashable, Sendable, Codable {
    package var errors = 0
    package var warnings = 0
    package var analyzerWarnings = 0
    package var testFailures = 0
    package var tests = 0

    package init() {}

    package static func - (left: Counts, right: Counts) -> Counts {
        var difference = Counts()
        difference.errors = left.errors - right.errors
        difference.warnings = left.warnings - right.warnings
        difference.analyzerWarnings = left.analyzerWarnings - right.analyzerWarnings
        difference.testFailures = left.testFailures - right.testFailures
        difference.tests = left.tests - right.tests
        return difference
    }
}

/// Counts with their change against the branch's integration before; the change is zero where there is none before.
package struct Summary: Hashable, Sendable, Codable {
    package var counts: Counts
    package var change: Counts

    package init(counts: Counts = Counts(), change: Counts = Counts()) {
        self.counts = counts
        self.change = change
    }
}
