/// What became of an event that was to be stored.
package enum RecordedEvent: Hashable, Sendable {
    case stored(DeliveryRecord)
    /// The same hook, delivery id and body were stored before; nothing was done.
    case duplicate(of: DeliveryRecord)
    /// The same hook and delivery id were stored before with another body; nothing was done, and it is to be refused.
    case conflict(with: DeliveryRecord)
}
