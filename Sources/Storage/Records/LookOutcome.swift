package import Model

/// What a look led to.
package struct LookOutcome: Hashable, Sendable {
    /// The refs that moved since the look before, by name.
    package var refUpdates: [RefUpdateRecord]
    /// The integrations that were queued, in the order of their numbers.
    package var integrations: [IntegrationID]
    /// Whether the repository is to be looked at once more: something asked since this look began.
    package var isRequestedAgain: Bool

    /// Those that run and are of pull requests which are closed: to be canceled.
    package var closed: [ClosedIntegration]

    /// Events that told of a head which the repository does not list yet, and how long to wait before it is looked for again.
    package var awaited: [Awaited]

    /// An event whose fate is not decided.
    package struct Awaited: Hashable, Sendable {
        /// Its row in the ledger.
        package var delivery: Int64
        package var pause: Duration
    }

    /// An integration whose pull request was closed while it runs.
    package struct ClosedIntegration: Hashable, Sendable {
        package var id: IntegrationID
        /// Which of its runs.
        package var run: Int
        /// The sentence that people see.
        package var reason: String
    }

    package init(
        refUpdates: [RefUpdateRecord], integrations: [IntegrationID], isRequestedAgain: Bool = false,
        closed: [ClosedIntegration] = [], awaited: [Awaited] = []
    ) {
        self.awaited = awaited
        self.isRequestedAgain = isRequestedAgain
        self.closed = closed
        self.refUpdates = refUpdates
        self.integrations = integrations
    }
}
