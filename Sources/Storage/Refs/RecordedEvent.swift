/// The result of storing an event.
package enum RecordedEvent: Hashable, Sendable {
    case stored(DeliveryRecord)
    /// The same hook, delivery id and body were stored before. No row was changed.
    case duplicate(of: DeliveryRecord)
    /// The same hook and delivery id were stored before with another body. No row was changed, and the event must be refused.
    case conflict(with: DeliveryRecord)
}
