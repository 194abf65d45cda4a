/// The state of one attempt at a job.
package enum AttemptState: Hashable, Sendable {
    /// The attempt is stored and has not started.
    case queued
    case running(JobStep)
    /// The supervisor has ended, but its results are not stored yet.
    case ended
    /// The results are stored and visible.
    case processed(Verdict)

    /// An event in the life of an attempt.
    package enum Event: Hashable, Sendable {
        case entered(JobStep)
        case ended
        case processed(Verdict)
    }

    /// Applies an event. The step of a running attempt never goes back.
    /// - Throws: `IllegalTransition` if the event is not allowed in this state. The state is then unchanged.
    package mutating func apply(_ event: Event) throws(IllegalTransition) {
        switch (self, event) {
        case (.queued, .entered(let step)): self = .running(step)
        case (.running(let now), .entered(let step)) where step >= now: self = .running(step)
        case (.running, .ended), (.queued, .ended): self = .ended
        case (.queued, .processed(let verdict)), (.running, .processed(let verdict)), (.ended, .processed(let verdict)):
            self = .processed(verdict)
        default: throw IllegalTransition(state: "\(self)", event: "\(event)")
        }
    }

    /// The state's word in the database and the JSON interface: queued, running, ended or processed.
    package var word: String {
        switch self {
        case .queued: "queued"
        case .running: "running"
        case .ended: "ended"
        case .processed: "processed"
        }
    }

    package var verdict: Verdict? {
        if case .processed(let verdict) = self { verdict } else { nil }
    }
}
