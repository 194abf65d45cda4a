package import Model

/// What a look led to.
package struct LookOutcome: Hashable, Sendable {
    /// The refs that moved since the look before, by name.
    package var refUpdates: [RefUpdateRecord]
    /// The integrations that were queued, in the order of their numbers.
    package var integrations: [IntegrationID]
    /// Whether the repository is to be looked at once more: something asked since this look began.
    package var isRequestedAgain: Bool

    package init(refUpdates: [RefUpdateRecord], integrations: [IntegrationID], isRequestedAgain: Bool = false) {
        self.isRequestedAgain = isRequestedAgain
        self.refUpdates = refUpdates
        self.integrations = integrations
    }
}
