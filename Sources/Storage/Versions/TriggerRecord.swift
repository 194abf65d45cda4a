package import Model

/// One attempt of a trigger of an integration.
package struct TriggerRecord: Hashable, Sendable {
    package var integration: IntegrationID
    package var trigger: Name
    /// The attempt's number, counted from 1.
    package var attempt: Int
    /// The integration's run that the attempt belongs to.
    package var run: Int
    package var phase: Trigger.Phase
    package var state: TriggerState
    package var reason: String?
    package var startedAt: Timestamp
    package var endedAt: Timestamp?
    /// The log's path below the state directory; `nil` if there is no log.
    package var log: String?
    /// The version that it published, or under which the commit was already published; `nil` if it made no version.
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
    /// The last attempt of each trigger, by name.
    package var newest: [TriggerRecord] {
        var newest: [Name: TriggerRecord] = [:]
        for record in self where record.attempt >= newest[record.trigger]?.attempt ?? 0 {
            newest[record.trigger] = record
        }
        return newest.values.sorted { $0.trigger < $1.trigger }
    }
}
