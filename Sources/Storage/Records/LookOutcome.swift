package import Model

/// What a look led to.
package struct LookOutcome: Hashable, Sendable {
    /// The refs that moved since the look before, by name.
    package var refUpdates: [RefUpdateRecord]
    /// The integrations that were queued, in the order of their numbers.
    package var integrations: [IntegrationID]

    package init(refUpdates: [RefUpdateRecord], integrations: [IntegrationID]) {
        self.refUpdates = refUpdates
        self.integrations = integrations
    }
}
