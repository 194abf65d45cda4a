/// What runs and what waits.
package struct Queue: Codable, Hashable, Sendable {
    /// The integrations that run, the oldest first.
    package var running: [QueuedIntegration]
    /// The integrations that wait, in the order in which they are expected to start; at most 100.
    package var waiting: [QueuedIntegration]
    /// The number of waiting integrations that are not listed.
    package var more: Int
    /// The number of jobs that run at once.
    package var slots: Int
    /// What is paused, so that its integrations do not start.
    package var pauses: [Pause]

    /// Creates a value from all its properties.
    package init(
        running: [QueuedIntegration], waiting: [QueuedIntegration], more: Int, slots: Int, pauses: [Pause]
    ) {
        self.running = running
        self.waiting = waiting
        self.more = more
        self.slots = slots
        self.pauses = pauses
    }
}

/// An integration in the queue. The estimates assume that it takes as long as the median of its branch's last 20, and that nothing else is queued.
package struct QueuedIntegration: Codable, Hashable, Sendable {
    /// The integration.
    package var integration: Integration
    /// Why it waits, in words; `nil` if it waits for nothing.
    package var reason: String?
    /// When it began, or was queued.
    package var since: Time
    /// When it began, or is expected to begin; `nil` if that is unknown.
    package var start: Time?
    /// When it is expected to end; `nil` if that is unknown.
    package var end: Time?
    /// The usual duration of an integration of its branch, in seconds; `nil` if none has ended.
    package var usual: Double?

    /// Creates a value from all its properties.
    package init(
        integration: Integration, reason: String?, since: Time, start: Time?, end: Time?, usual: Double?
    ) {
        self.integration = integration
        self.reason = reason
        self.since = since
        self.start = start
        self.end = end
        self.usual = usual
    }
}
