package import Model

/// A further run of an integration that a user requested.
package struct RerunRecord: Hashable, Sendable {
    /// The number of the run, counted from 2.
    package var run: Int
    package var requestedBy: String
    package var requestedAt: Timestamp
    /// Whether only the configurations that had failed run.
    package var isFailedOnly: Bool
    /// The filter of the tests to run, in the test tool's syntax; `nil`: all tests.
    package var testFilter: String?
    /// Whether only the triggers after the jobs run.
    package var isTriggersOnly: Bool

    package init(
        run: Int, requestedBy: String, requestedAt: Timestamp, isFailedOnly: Bool = false, testFilter: String? = nil,
        isTriggersOnly: Bool = false
    ) {
        self.run = run
        self.requestedBy = requestedBy
        self.requestedAt = requestedAt
        self.isFailedOnly = isFailedOnly
        self.testFilter = testFilter
        self.isTriggersOnly = isTriggersOnly
    }
}
