package import Model

/// One attempt of a job as it is stored.
package struct AttemptRecord: Hashable, Sendable {
    package var id: AttemptID
    package var state: AttemptState
    /// The integration's run that the attempt belongs to.
    package var run: Int
    /// The filter of the tests to run, in the test tool's syntax; `nil`: all tests.
    package var testFilter: String?
    /// `not analyzed`, `clean` or `3 findings`; `nil` until the attempt is processed.
    package var analysis: String?
    /// A text that states what was tested; `nil` until the attempt is processed.
    package var tested: String?
    /// The attempt's counts; `nil` until it is processed. Changes are counted per integration, so they are zero here.
    package var summary: Summary?
    package var reason: String?
    /// Sentences shown on the page: `report unreadable: …`.
    package var notes: [String]
    /// How the attempt was isolated from the machine; `nil` until it is prepared.
    package var isolation: Isolation?
    package var queuedAt: Timestamp
    package var startedAt: Timestamp?
    package var endedAt: Timestamp?
    /// The steps, ordered by index.
    package var steps: [StepRecord]

    package init(
        id: AttemptID, state: AttemptState = .queued, run: Int = 1, testFilter: String? = nil, analysis: String? = nil,
        tested: String? = nil, summary: Summary? = nil, reason: String? = nil, notes: [String] = [],
        isolation: Isolation? = nil, queuedAt: Timestamp, startedAt: Timestamp? = nil, endedAt: Timestamp? = nil,
        steps: [StepRecord] = []
    ) {
        self.id = id
        self.state = state
        self.run = run
        self.testFilter = testFilter
        self.analysis = analysis
        self.tested = tested
        self.summary = summary
        self.reason = reason
        self.notes = notes
        self.isolation = isolation
        self.queuedAt = queuedAt
        self.startedAt = startedAt
        self.endedAt = endedAt
        self.steps = steps
    }
}
