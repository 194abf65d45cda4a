package import Model

/// One try at a trigger of an integration.
package struct TriggerRecord: Hashable, Sendable {
    package var integration: IntegrationID
    package var trigger: Name
    /// Counts from 1.
    package var attempt: Int
    package var phase: Trigger.Phase
    package var state: TriggerState
    package var reason: String?
    package var startedAt: Timestamp
    package var endedAt: Timestamp?
    /// The log's path beneath the state directory, where there is one.
    package var log: String?

    package init(
        integration: IntegrationID, trigger: Name, attempt: Int, phase: Trigger.Phase, state: TriggerState,
        reason: String? = nil, startedAt: Timestamp, endedAt: Timestamp? = nil, log: String? = nil
    ) {
        self.integration = integration
        self.trigger = trigger
        self.attempt = attempt
        self.phase = phase
        self.state = state
        self.reason = reason
        self.startedAt = startedAt
        self.endedAt = endedAt
        self.log = log
    }
}
