import GRDB
package import Model

/// The version of the machine's toolchain for which a bot's branch tips have been integrated.
package struct ToolchainMark: Hashable, Sendable {
    package var bot: Name
    /// The version for which all tips have been integrated.
    package var version: String
    /// The version for which tips are being queued; `nil` if none are.
    package var next: String?
    /// The last ref, in order of name, that was queued for `next`.
    package var reached: RefName?

    package init(bot: Name, version: String, next: String? = nil, reached: RefName? = nil) {
        self.bot = bot
        self.version = version
        self.next = next
        self.reached = reached
    }
}

extension Store {
    /// Returns the toolchain mark of every bot that has one, including retired bots.
    package func toolchainMarks() async throws(StoreError) -> [Name: ToolchainMark] {
        try await read("read for which toolchain bots were integrated") { db in
            let marks = try db.all("SELECT name, version, next, reached FROM toolchains JOIN bots ON bots.id = bot") {
                ToolchainMark(
                    bot: try $0.name("name"), version: try $0["version"], next: try $0["next"],
                    reached: try $0.optional("reached") { RefName($0) })
            }
            return Dictionary(marks.map { ($0.bot, $0) }) { $1 }
        }
    }

    /// Records the first toolchain version of these bots if none is recorded. It does not cause an integration.
    package func recordToolchain(_ version: String, of bots: [Name]) async throws(StoreError) {
        try await writer.write("record the toolchain of \(bots.count) bots") { transaction in
            try transaction.db.change(
                """
                INSERT INTO toolchains (bot, version)
                SELECT id, ? FROM bots WHERE is_retired = 0 AND name IN (SELECT value FROM json_each(?))
                ON CONFLICT DO NOTHING
                """, [version.kept, try jsonText(bots)])
        }
    }

    /// Queues the integrations that a new toolchain version causes, and stores the progress. One transaction does both, so that no branch tip is left
    /// out or queued twice if the daemon stops.
    ///
    /// A queued integration of an earlier version is superseded. A queued integration of the same commit becomes the upgrade's. Refs that have moved
    /// meanwhile are left to their pushes.
    /// - Parameter event: Returns the event to record for each integration.
    /// - Returns: The queued integrations.
    /// - Throws: `notFound` if no such bot is registered, or it is retired.
    package func takeUp(
        _ mark: ToolchainMark, queueing new: [NewIntegration], at time: Timestamp,
        recording event: @escaping @Sendable (IntegrationRecord) -> NewEvent
    ) async throws(StoreError) -> [IntegrationRecord] {
        try await writer.write("adopt another toolchain for \(mark.bot)") { transaction in
            let bot = try Self.registeredBot(mark.bot, transaction.db)
            try transaction.db.change(
                """
                INSERT INTO toolchains (bot, version, next, reached) VALUES (?, ?, ?, ?) ON CONFLICT (bot)
                DO UPDATE SET version = excluded.version, next = excluded.next, reached = excluded.reached
                """, [bot.id, mark.version.kept, mark.next?.kept, mark.reached?.description])
            return try new.filter { try Self.isTip($0, in: bot.repository, transaction.db) }.map { new in
                if let waiting = try Self.relabelWaiting(new, of: bot, transaction) { return waiting }
                let record = try Self.queue(new, of: bot, at: time, recording: event, transaction)
                try Self.supersedeUpgrades(by: record, of: bot, at: time, transaction)
                return record
            }
        }
    }

    /// Changes the cause of a queued integration of the same commit, since it will be the first with the new toolchain: a second integration would
    /// give the same result.
    /// - Returns: That integration; `nil` if there is none.
    private static func relabelWaiting(
        _ new: NewIntegration, of bot: RegisteredBot, _ transaction: StoreTransaction
    ) throws -> IntegrationRecord? {
        let number: Int? = try transaction.db.first(
            """
            UPDATE integrations SET cause = 'upgrade', requested_by = ?1, is_clean = 1 WHERE id =
                (SELECT max(id) FROM integrations WHERE bot = ?2 AND ref = ?3 AND "commit" = ?4 AND state = 'queued'
                AND run = 1 AND cause NOT IN ('upgrade', 'person'))
            RETURNING number
            """, [new.requestedBy?.kept, bot.id, new.ref.description, new.commit.description]
        ) { try $0[0] }
        guard let number else { return nil }
        let id = IntegrationID(bot: new.bot, number: number)
        transaction.changed(.integration(id))
        return try integration(id, transaction.db)
    }

    private static func supersedeUpgrades(
        by newer: IntegrationRecord, of bot: RegisteredBot, at time: Timestamp, _ transaction: StoreTransaction
    ) throws {
        let older = try transaction.db.all(
            """
            SELECT id, number FROM integrations WHERE bot = ? AND ref = ? AND state = 'queued' AND state <> 'completed'
            AND cause = 'upgrade' AND run = 1 AND id < ?
            """, [bot.id, newer.ref.description, newer.rowID]
        ) { (row: try $0["id"] as Int64, number: try $0["number"] as Int) }
        for (row, number) in older {
            let id = IntegrationID(bot: newer.id.bot, number: number)
            try transaction.db.change("UPDATE integrations SET superseded_by = ? WHERE id = ?", [newer.rowID, row])
            _ = try apply(
                .completed(.canceled, triggerFailed: false), to: try integration(id, transaction.db), at: time,
                reason: "superseded by \(newer.id), of a newer toolchain", transaction)
        }
    }
}
