/// The state of an integration. Every change is made by `apply(_:)`, so an illegal one cannot be stored.
package enum IntegrationState: Hashable, Sendable {
    case queued
    /// Leased by the scheduler. The step is never `.pending` or `.completed`.
    case running(IntegrationStep)
    case completed(Verdict, triggerFailed: Bool)

    /// An event in the life of an integration.
    package enum Event: Hashable, Sendable {
        case started
        case entered(IntegrationStep)
        case completed(Verdict, triggerFailed: Bool)
        /// A user requested another run, with further attempts.
        case reopened
    }

    /// Applies an event.
    /// - Throws: `IllegalTransition` if the event is not allowed in this state. The state is then unchanged.
    package mutating func apply(_ event: Event) throws(IllegalTransition) {
        switch (self, event) {
        case (.queued, .started): self = .running(.preparing)
        case (.running, .entered(let step)) where step != .pending && step != .completed: self = .running(step)
        case (.queued, .completed(let verdict, let triggerFailed)),
            (.running, .completed(let verdict, let triggerFailed)):
            self = .completed(verdict, triggerFailed: triggerFailed)
        case (.completed, .reopened): self = .queued
        default: throw IllegalTransition(state: "\(self)", event: "\(event)")
        }
    }

    /// The state's word in the JSON interface and the database: queued, running or completed.
    package var word: String {
        switch self {
        case .queued: "queued"
        case .running: "running"
        case .completed: "completed"
        }
    }

    package var step: IntegrationStep {
        switch self {
        case .queued: .pending
        case .running(let step): step
        case .completed: .completed
        }
    }

    package var verdict: Verdict? {
        if case .completed(let verdict, _) = self { verdict } else { nil }
    }

    package var result: IntegrationResult? {
        if case .completed(let verdict, let failed) = self {
            .init(verdict: verdict, triggerFailed: failed)
        } else {
            nil
        }
    }
}

/// An event that is not allowed in the state of a state machine.
package struct IllegalTransition: Error, Hashable, CustomStringConvertible {
    package let state: String
    package let event: String

    package init(state: String, event: String) {
        self.state = state
        self.event = event
    }

    package var description: String { "\(event) is not possible in the state \(state)" }
}
