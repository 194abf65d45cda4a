import Model
package import Storage

/// The receipt of an authentic delivery, which is stored when this is returned.
package struct PushAcceptance: Sendable {
    /// The delivery's id in `/deliveries`.
    package let delivery: String
    /// Whether the same delivery was stored before.
    package let isDuplicate: Bool
    /// The reason why the delivery has no effect; `nil` if a scan decides on it.
    package let ignored: String?

    package init(_ record: DeliveryRecord, isDuplicate: Bool) {
        delivery = record.id
        self.isDuplicate = isDuplicate
        ignored = record.outcome == .ignored ? record.reason : nil
    }
}
