package import Model

/// A further run of a completed integration, to be stored.
package struct NewRerun: Hashable, Sendable {
    package var requestedBy: String
    package var isFailedOnly: Bool
    package var testFilter: String?
    package var isTriggersOnly: Bool
    /// The jobs that get a new attempt; the others keep their results.
    package var jobs: [Name]

    package init(
        requestedBy: String, isFailedOnly: Bool = false, testFilter: String? = nil, isTriggersOnly: Bool = false,
        jobs: [Name]
    ) {
        self.requestedBy = requestedBy
        self.isFailedOnly = isFailedOnly
        self.testFilter = testFilter
        self.isTriggersOnly = isTriggersOnly
        self.jobs = jobs
    }
}
