package import Model

/// An event with its outcome.
package struct DeliveryRecord: Hashable, Sendable {
    /// The forge's delivery id, or the row's number if there is none.
    package var id: String
    /// The row's number, which is the cursor of listings.
    package var rowID: Int64
    package var repository: String?
    package var bot: Name?
    package var source: EventSource
    package var hook: String
    package var event: String
    package var receivedAt: Timestamp
    package var claims: [RefClaim]
    package var fate: Fate
    package var reason: String?
    /// The ref updates that the event announced, or that the scan it requested found.
    package var refUpdates: [RefUpdateRecord]

    package init(
        id: String, rowID: Int64, repository: String?, bot: Name?, source: EventSource, hook: String, event: String,
        receivedAt: Timestamp, claims: [RefClaim], fate: Fate, reason: String?, refUpdates: [RefUpdateRecord]
    ) {
        self.id = id
        self.rowID = rowID
        self.repository = repository
        self.bot = bot
        self.source = source
        self.hook = hook
        self.event = event
        self.receivedAt = receivedAt
        self.claims = claims
        self.fate = fate
        self.reason = reason
        self.refUpdates = refUpdates
    }
}
