package import Model

/// One step of an attempt as it ran.
package struct StepRecord: Hashable, Sendable {
    /// The step's index in the job's steps, counted from 0.
    package var index: Int
    package var step: JobStep
    package var name: String
    package var startedAt: Timestamp
    package var endedAt: Timestamp?
    /// The exit status; `nil` if the process did not exit by itself.
    package var exit: Int?
    /// The number of the signal that ended the process; `nil` if none did.
    package var signal: Int?
    /// The exceeded limit that ended the step: `time` or `log`; `nil` if none did.
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
