package import Model

/// One try at a trigger of an integration.
package struct TriggerRecord: Hashable, Sendable {
    package var integration: IntegrationID
    package var trigger: Name
    /// Counts from 1.
    package var attempt: Int
    /// The integration's run that it belongs to.
    package var run: Int
    package var phase: Trigger.Phase
    package var state: TriggerState
    package var reason: String?
    package var startedAt: Timestamp
    package var endedAt: Timestamp?
    /// The log's path beneath the state directory, where there is one.
    package var log: String?
    /// The version that it published, or that the commit was published as before; nothing where it made none, as what does not publish.
    package var version: SemanticVersion?

    package init(
        integration: IntegrationID, trigger: Name, attempt: Int, run: Int = 1, phase: Trigger.Phase,
        state: TriggerState,
        reason: String? = nil, startedAt: Timestamp, endedAt: Timestamp? = nil, log: String? = nil,
        version: SemanticVersion? = nil
    ) {
        self.integration = integration
        self.trigger = trigger
        self.attempt = attempt
        self.run = run
        self.phase = phase
        self.state = state
        self.reason = reason
        self.startedAt = startedAt
        self.endedAt = endedAt
        self.log = log
        self.version = version
    }
}

extension [TriggerRecord] {
    /// The last try at each trigger.
    package var newest: [TriggerRecord] {
        var newest: [Name: TriggerRecord] = [:]
        for record in self where record.attempt >= newest[record.trigger]?.attempt ?? 0 {
            newest[record.trigger] = record
        }
        return newest.values.sorted { $0.trigger < $1.trigger }
    }
}
