import GRDB
import Model

/// Why an integration ended without judging the commit of its ref update.
enum Dismissal {
    case skipped, superseded

    /// The outcome of the update.
    var fate: Fate {
        switch self {
        case .skipped: .ignored
        case .superseded: .superseded
        }
    }

    /// The condition for integrations that were not dismissed for the same reason. The update stays integrated while it has one.
    fileprivate var others: String {
        switch self {
        case .skipped: "is_skipped = 0"
        case .superseded: "(superseded_by IS NULL OR verdict IS NOT 'canceled')"
        }
    }
}

extension Store {
    /// Sets the outcome of the ref update that caused an integration, and of the events that announced it, unless another bot integrates them.
    static func decide(
        _ dismissal: Dismissal, _ reason: String, of record: IntegrationRecord, _ transaction: StoreTransaction
    ) throws {
        let db = transaction.db
        let fate = dismissal.fate
        let update: Int64? = try db.value(
            """
            UPDATE ref_updates SET fate = ?1, reason = ?2
            WHERE id = (SELECT ref_update FROM integrations WHERE id = ?3) AND fate = 'integrated' AND NOT EXISTS
                (SELECT 1 FROM integrations WHERE ref_update = ref_updates.id AND \(dismissal.others))
            RETURNING id
            """, [fate.rawValue, reason.kept, record.rowID])
        guard let update else { return }
        let deliveries: [Int64] = try db.values(
            """
            UPDATE deliveries SET fate = ?1, reason = ?2 WHERE fate = 'integrated'
            AND id IN (SELECT delivery FROM delivery_updates WHERE ref_update = ?3) AND NOT EXISTS
                (SELECT 1 FROM delivery_updates JOIN ref_updates ON ref_updates.id = ref_update
                 WHERE delivery = deliveries.id AND ref_updates.fate = 'integrated')
            RETURNING id
            """, [fate.rawValue, reason.kept, update])
        for delivery in deliveries { transaction.changed(.delivery(rowID: delivery)) }
    }
}
