package import Model

/// The result of applying a scan.
package struct LookOutcome: Hashable, Sendable {
    /// The refs that moved since the previous scan, by name.
    package var refUpdates: [RefUpdateRecord]
    /// The queued integrations, ordered by number.
    package var integrations: [IntegrationID]
    /// Whether the repository must be scanned again, because another scan was requested after this one began.
    package var isRequestedAgain: Bool

    /// The running integrations of closed pull requests, which are to be canceled.
    package var closed: [ClosedIntegration]

    /// The events that announced a head the repository does not list yet, with the pauses before the next scans.
    package var awaited: [Awaited]

    /// An event whose outcome is not decided.
    package struct Awaited: Hashable, Sendable {
        /// The event's row in the ledger.
        package var delivery: Int64
        package var pause: Duration
    }

    /// An integration whose pull request was closed while it runs.
    package struct ClosedIntegration: Hashable, Sendable {
        package var id: IntegrationID
        /// The integration's run when the pull request was closed.
        package var run: Int
        /// The reason shown to users.
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
