package import Model

/// One step of an attempt as it was run.
package struct StepRecord: Hashable, Sendable {
    /// Its place in the job's steps, from 0.
    package var index: Int
    package var step: JobStep
    package var name: String
    package var startedAt: Timestamp
    package var endedAt: Timestamp?
    /// The exit status, when it exited.
    package var exit: Int?
    /// The signal's number, when one ended it.
    package var signal: Int?
    /// The limit that it was ended for: `time`, `log`.
    package var limit: String?

    package init(
        index: Int, step: JobStep, name: String, startedAt: Timestamp, endedAt: Timestamp? = nil, exit: Int? = nil,
        signal: Int? = nil, limit: String? = nil
    ) {
        self.index = index
        self.step = step
        self.name = name
        self.startedAt = startedAt
        self.endedAt = endedAt
        self.exit = exit
        self.signal = signal
        self.limit = limit
    }
}
