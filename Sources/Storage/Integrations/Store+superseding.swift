import GRDB
package import Model

extension Store {
    /// Returns the reason shown for a superseded integration.
    package static func supersededReason(by newer: IntegrationID, ref: RefName) -> String {
        "superseded by \(newer), a newer commit of \(ref.shortName)"
    }

    /// Ends queued integrations of a ref and marks running ones, according to the bot's `supersede` setting. Integrations that a user requested, and
    /// reruns, are left alone. The scheduler ends marked ones. A queued integration caused by a new toolchain is always ended.
    static func supersede(
        _ ref: RefName, ofBot bot: Int64, by newer: IntegrationID, _ supersede: BotSpecification.Supersede,
        at time: Timestamp, _ transaction: StoreTransaction
    ) throws {
        let newerRow = try integrationRow(newer, transaction.db)
        let rows = try transaction.db.rows(
            """
            SELECT id, number, state, step, cause FROM integrations WHERE bot = ? AND ref = ? AND state <> 'completed'
            AND id < ? AND cause <> 'person' AND run = 1 AND superseded_by IS NULL ORDER BY id
            """, [bot, ref.description, newerRow])
        for row in rows {
            let id = IntegrationID(bot: newer.bot, number: try row["number"])
            let isQueued = try row["state"] == "queued"
            // An upgrade's integration was not pushed to become a version, and the newer commit also tests the new toolchain.
            guard try supersede != .never || (isQueued && row["cause"] == Cause.upgrade.rawValue) else { continue }
            let step: String = try row["step"]
            // Once triggers act on its result, the integration runs to its end, because half an upload is useless.
            let hasEndedItsJobs = [IntegrationStep.afterTriggers, .uploading].contains { $0.rawValue == step }
            guard isQueued || (supersede == .running && !hasEndedItsJobs) else { continue }
            try transaction.db.change(
                "UPDATE integrations SET superseded_by = ? WHERE id = ?", [newerRow, try row["id"] as Int64])
            transaction.changed(.integration(id))
            guard isQueued else { continue }
            _ = try apply(
                .completed(.canceled, triggerFailed: false), to: try integration(id, transaction.db), at: time,
                reason: supersededReason(by: newer, ref: ref), transaction)
        }
    }

    /// Sets the outcome of the ref update that caused a superseded integration, and of the events that announced it, unless another bot integrates
    /// it. A marked integration that is still running may end otherwise.
    static func decideSuperseded(
        _ record: IntegrationRecord, by newer: IntegrationID, _ transaction: StoreTransaction
    ) throws {
        try decide(.superseded, supersededReason(by: newer, ref: record.ref), of: record, transaction)
    }
}
