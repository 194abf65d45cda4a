import GRDB
package import Model

/// A further run of an integration that a user requested.
package struct RerunRecord: Hashable, Sendable {
    /// The number of the run, counted from 2.
    package var run: Int
    package var requestedBy: String
    package var requestedAt: Timestamp
    /// Whether only the configurations that had failed run.
    package var isFailedOnly: Bool
    /// The filter of the tests to run, in the test tool's syntax, or the names of some; `nil`: all tests.
    package var testFilter: String?
    /// Whether only the triggers after the jobs run.
    package var isTriggersOnly: Bool

    package init(
        run: Int, requestedBy: String, requestedAt: Timestamp, isFailedOnly: Bool = false, testFilter: String? = nil,
        isTriggersOnly: Bool = false
    ) {
        self.run = run
        self.requestedBy = requestedBy
        self.requestedAt = requestedAt
        self.isFailedOnly = isFailedOnly
        self.testFilter = testFilter
        self.isTriggersOnly = isTriggersOnly
    }
}

/// A further run of a completed integration, to be stored.
package struct NewRerun: Hashable, Sendable {
    package var requestedBy: String
    package var isFailedOnly: Bool
    package var testFilter: String?
    package var isTriggersOnly: Bool
    /// The jobs that get a new attempt; the others keep their results.
    package var jobs: [Name]
    /// The filter of the tests of a job, in its test tool's syntax; `testFilter` for the other jobs.
    package var filters: [Name: String]

    package init(
        requestedBy: String, isFailedOnly: Bool = false, testFilter: String? = nil, isTriggersOnly: Bool = false,
        jobs: [Name], filters: [Name: String] = [:]
    ) {
        self.requestedBy = requestedBy
        self.isFailedOnly = isFailedOnly
        self.testFilter = testFilter
        self.isTriggersOnly = isTriggersOnly
        self.jobs = jobs
        self.filters = filters
    }
}

extension Store {
    /// The result of an integration before a rerun. It is restored if the rerun is withdrawn before it begins.
    private struct Before: Codable {
        var verdict: Verdict
        var hasFailedTrigger: Bool
        var reason: String?
        var startedAt: Timestamp?
        var endedAt: Timestamp?
        /// The number of the newer integration of the same bot.
        var supersededBy: Int?
        var isSkipped: Bool?
    }

    /// Queues a completed integration for another run, with a queued attempt for each job that runs again. All results of earlier runs stay, and are
    /// shown until this run's attempts are processed.
    /// - Parameter event: Returns the event to record, with the user's name; `nil` to record none.
    /// - Throws: `illegalTransition` without storing a change if it is not completed; `notFound`; `tooLarge` for the event.
    package func reopen(
        _ id: IntegrationID, for rerun: NewRerun, at time: Timestamp,
        recording event: (@Sendable (IntegrationRecord) -> NewEvent)? = nil
    ) async throws(StoreError) -> IntegrationRecord {
        try await writer.write("queue \(id) again") { transaction in
            let db = transaction.db
            var record = try Self.integration(id, db)
            guard case .completed(let verdict, let hasFailedTrigger) = record.state else {
                throw IllegalTransition(state: "\(record.state)", event: "reopened")
            }
            let before = Before(
                verdict: verdict, hasFailedTrigger: hasFailedTrigger, reason: record.reason,
                startedAt: record.startedAt, endedAt: record.endedAt,
                supersededBy: record.supersededBy?.number, isSkipped: record.isSkipped)
            try record.state.apply(.reopened)
            record.run += 1
            (record.reason, record.startedAt, record.endedAt, record.supersededBy) = (nil, nil, nil, nil)
            record.isSkipped = false
            try db.change(
                "INSERT INTO reruns VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                [
                    record.rowID, record.run, rerun.requestedBy.kept, time.millisecondsSinceEpoch, rerun.isFailedOnly,
                    rerun.testFilter, rerun.isTriggersOnly, try jsonText(before),
                ])
            try db.change("UPDATE integrations SET superseded_by = NULL WHERE id = ?", [record.rowID])
            try Self.update(record, transaction)
            try Self.announce(record, at: time, transaction)
            for job in rerun.jobs {
                _ = try Self.insertAttempt(
                    at: job, of: record, testFilter: rerun.filters[job] ?? rerun.testFilter, at: time, transaction)
            }
            transaction.passes("rerun.queued")
            if let event { _ = try Self.record(event(record), transaction) }
            return record
        }
    }

    /// Withdraws a rerun that has not begun and restores the integration's previous result.
    /// - Throws: `illegalTransition` if it has begun, or is no rerun; `notFound`.
    package func takeBackRerun(
        of id: IntegrationID, at time: Timestamp
    ) async throws(StoreError) -> IntegrationRecord {
        try await writer.write("take back the rerun of \(id)") { transaction in
            let db = transaction.db
            var record = try Self.integration(id, db)
            let row = try db.row(
                "SELECT before FROM reruns WHERE integration = ? AND run = ?",
                [record.rowID, record.run])
            guard record.state == .queued, let before = try row?.json("before", as: Before.self) else {
                throw IllegalTransition(state: "\(record.state)", event: "taken back")
            }
            try record.state.apply(.completed(before.verdict, triggerFailed: before.hasFailedTrigger))
            let jobs = try db.all(
                "SELECT DISTINCT job FROM attempts WHERE integration = ? AND run = ?", [record.rowID, record.run]
            ) { try $0.name("job") }
            for table in ["attempts", "reruns"] {
                try db.change("DELETE FROM \(table) WHERE integration = ? AND run = ?", [record.rowID, record.run])
            }
            record.run -= 1
            (record.reason, record.startedAt, record.endedAt) = (before.reason, before.startedAt, before.endedAt)
            record.isSkipped = before.isSkipped ?? false
            record.supersededBy = before.supersededBy.map { IntegrationID(bot: id.bot, number: $0) }
            // The column becomes NULL if that integration was removed meanwhile.
            try db.change(
                """
                UPDATE integrations SET superseded_by =
                    (SELECT newer.id FROM integrations AS newer WHERE newer.bot = integrations.bot AND newer.number = ?)
                WHERE id = ?
                """, [before.supersededBy, record.rowID])
            try Self.update(record, transaction)
            try Self.announceAgain(record, jobs: jobs, at: time, transaction)
            transaction.passes("rerun.taken-back")
            return record
        }
    }

    /// Returns the reruns of an integration, in their order.
    package func reruns(of id: IntegrationID) async throws(StoreError) -> [RerunRecord] {
        try await read("read the reruns of \(id)") { db in
            try db.rows(
                """
                SELECT reruns.* FROM reruns JOIN integrations ON integrations.id = integration
                JOIN bots ON bots.id = bot WHERE name = ? AND number = ? ORDER BY reruns.run
                """, [id.bot.description, id.number]
            ).map { row in
                RerunRecord(
                    run: try row["run"], requestedBy: try row["requested_by"],
                    requestedAt: try row.time("requested_at"),
                    isFailedOnly: try row["is_failed_only"], testFilter: try row["test_filter"],
                    isTriggersOnly: try row["is_triggers_only"])
            }
        }
    }
}
