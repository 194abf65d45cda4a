import Model
package import Storage

/// What became of an authentic delivery: it is stored when this is returned.
package struct PushAcceptance: Sendable {
    /// The delivery's id in `/deliveries`.
    package let delivery: String
    /// The same delivery had been stored before.
    package let isDuplicate: Bool
    /// Why nothing comes of it; nothing for one that a look decides.
    package let ignored: String?

    package init(_ record: DeliveryRecord, isDuplicate: Bool) {
        delivery = record.id
        self.isDuplicate = isDuplicate
        ignored = record.fate == .ignored ? record.reason : nil
    }
}
