import GRDB
package import Model

/// The time up to which a bot's schedule has been handled. Its earlier moments are not due any more.
package struct ScheduleMark: Hashable, Sendable {
    package var bot: Name
    /// The schedule's times and zone as text.
    package var schedule: String
    package var takenUp: Timestamp

    package init(bot: Name, schedule: String, takenUp: Timestamp) {
        self.bot = bot
        self.schedule = schedule
        self.takenUp = takenUp
    }
}

extension Store {
    /// Returns the marks of every bot that ever had a schedule, including retired ones.
    package func scheduleMarks() async throws(StoreError) -> [ScheduleMark] {
        try await read("read the times up to which schedules were applied") { db in
            try db.all("SELECT name, schedule, taken_up FROM schedules JOIN bots ON bots.id = bot ORDER BY name") {
                ScheduleMark(
                    bot: try $0.name("name"), schedule: try $0["schedule"],
                    takenUp: Timestamp(millisecondsSinceEpoch: try $0["taken_up"]))
            }
        }
    }

    /// Returns whether the ref still has the commit that was chosen. If it has moved, its integration exists already, and the older commit would
    /// become the latest.
    static func isTip(_ new: NewIntegration, in repository: Int64, _ db: Database) throws -> Bool {
        let head = try db.first(
            "SELECT head FROM refs WHERE repository = ? AND name = ?", [repository, new.ref.description]
        ) { try $0[0] as String? }
        return head == new.commit.description
    }

    /// Queues the integrations of a schedule's moment and stores that the moment was handled. One transaction does both, so that no moment is lost or
    /// handled twice if the daemon stops. Refs that have moved meanwhile are left to their pushes.
    /// - Parameter event: Returns the event to record for each integration.
    /// - Returns: The queued integrations.
    /// - Throws: `notFound` if no such bot is registered, or it is retired.
    package func takeUp(
        _ mark: ScheduleMark, queueing new: [NewIntegration], at time: Timestamp,
        recording event: @escaping @Sendable (IntegrationRecord) -> NewEvent
    ) async throws(StoreError) -> [IntegrationRecord] {
        try await writer.write("apply the schedule of \(mark.bot)") { transaction in
            let db = transaction.db
            let bot = try Self.registeredBot(mark.bot, db)
            try db.change(
                """
                INSERT INTO schedules (bot, schedule, taken_up) VALUES (?, ?, ?)
                ON CONFLICT (bot) DO UPDATE SET schedule = excluded.schedule, taken_up = excluded.taken_up
                """, [bot.id, mark.schedule, mark.takenUp.millisecondsSinceEpoch])
            return try new.filter { try Self.isTip($0, in: bot.repository, db) }
                .map { try Self.queue($0, of: bot, at: time, recording: event, transaction) }
        }
    }
}
