import GRDB
package import Model

extension Store {
    /// The sentence that people see at what was superseded.
    package static func supersededReason(by newer: IntegrationID, ref: RefName) -> String {
        "superseded by \(newer), a newer commit of \(ref.shortName)"
    }

    /// Ends those of a ref that wait, and marks those whose jobs run, as the bot's file wants it. What a person asked for is
    /// left alone, a rerun too; what is marked is ended by the scheduler. What another toolchain brought and waits is ended in any case.
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
            // None of an upgrade's was pushed to become a version: what it would bring, the newer commit brings.
            guard try supersede != .never || (isQueued && row["cause"] == Cause.upgrade.rawValue) else { continue }
            let step: String = try row["step"]
            // Once triggers act on its result, it is brought to its end: half of an upload helps nobody.
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

    /// Decides the fate of the ref update that caused a superseded integration, and of the events that announced it, unless another bot integrates
    /// it. A marked integration that still runs may end otherwise.
    static func decideSuperseded(
        _ record: IntegrationRecord, by newer: IntegrationID, _ transaction: StoreTransaction
    ) throws {
        try decide(
            .superseded, supersededReason(by: newer, ref: record.ref), of: record,
            unless: "(superseded_by IS NULL OR verdict IS NOT 'canceled')", transaction)
    }
}
