/// The life of one try at a job.
package enum AttemptState: Hashable, Sendable {
    /// The row is stored, nothing was started.
    case queued
    case running(JobStep)
    /// The supervisor has ended; its results are not stored yet.
    case ended
    /// Results are stored and visible.
    case processed(Verdict)

    /// What can happen to an attempt.
    package enum Event: Hashable, Sendable {
        case entered(JobStep)
        case ended
        case processed(Verdict)
    }

    /// - Throws: `IllegalTransition`; the state is then unchanged. Steps only advance.
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
