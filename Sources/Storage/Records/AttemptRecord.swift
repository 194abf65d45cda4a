package import Model

/// One try at a job as it is stored.
package struct AttemptRecord: Hashable, Sendable {
    package var id: AttemptID
    package var state: AttemptState
    /// The integration's run that it belongs to.
    package var run: Int
    /// Which tests it runs, as the test tool reads it; nothing: all.
    package var testFilter: String?
    /// `not analyzed`, `clean`, `3 findings`; once processed.
    package var analysis: String?
    /// What was tested, in words; once processed.
    package var tested: String?
    /// Its counts; once processed. The change is the integration's to say and is zero here.
    package var summary: Summary?
    package var reason: String?
    /// Sentences for the page: `report unreadable: …`.
    package var notes: [String]
    /// What kept it from the machine; known when it is prepared.
    package var isolation: Isolation?
    package var queuedAt: Timestamp
    package var startedAt: Timestamp?
    package var endedAt: Timestamp?
    /// By index.
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
