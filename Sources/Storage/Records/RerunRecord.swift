package import Model

/// A further run of an integration, as a person asked for it.
package struct RerunRecord: Hashable, Sendable {
    /// Counts from 2.
    package var run: Int
    package var requestedBy: String
    package var requestedAt: Timestamp
    /// Only the configurations that had failed.
    package var isFailedOnly: Bool
    /// Only the tests that this names, as the test tool reads it.
    package var testFilter: String?
    /// No job, only the triggers after them.
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
