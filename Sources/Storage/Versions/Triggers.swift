import GRDB
package import Model

/// The state of one attempt of a trigger.
package enum TriggerState: String, Hashable, Sendable, Codable, CaseIterable {
    case running, succeeded, failed, skipped
}

/// One attempt of a trigger of an integration.
package struct TriggerRecord: Hashable, Sendable {
    package var integration: IntegrationID
    package var trigger: Name
    /// The attempt's number, counted from 1.
    package var attempt: Int
    /// The integration's run that the attempt belongs to.
    package var run: Int
    package var phase: Trigger.Phase
    package var state: TriggerState
    package var reason: String?
    package var startedAt: Timestamp
    package var endedAt: Timestamp?
    /// The log's path below the state directory; `nil` if there is no log.
    package var log: String?
    /// The version that it published, or under which the commit was already published; `nil` if it made no version.
    package var version: SemanticVersion?

    package init(
        integration: IntegrationID, trigger: Name, attempt: Int, run: Int = 1, phase: Trigger.Phase,
        state: TriggerState,
        reason: String? = nil, startedAt: Timestamp, endedAt: Timestamp? = nil, log: String? = nil,
        version: SemanticVersion? = nil
    ) {
        self.integration = integration
        self.trigger = trigger
        self.attempt = attempt
        self.run = run
        self.phase = phase
        self.state = state
        self.reason = reason
        self.startedAt = startedAt
        self.endedAt = endedAt
        self.log = log
        self.version = version
    }
}

extension [TriggerRecord] {
    /// The last attempt of each trigger, by name.
    package var newest: [TriggerRecord] {
        var newest: [Name: TriggerRecord] = [:]
        for record in self where record.attempt >= newest[record.trigger]?.attempt ?? 0 {
            newest[record.trigger] = record
        }
        return newest.values.sorted { $0.trigger < $1.trigger }
    }
}

extension Store {
    /// Stores an attempt of a trigger when it starts, and again, under the same integration, name and attempt, when it ends.
    package func recordTrigger(_ record: TriggerRecord) async throws(StoreError) {
        try await recordTriggers([record])
    }

    /// Stores several attempts of one trigger in one transaction.
    package func recordTriggers(_ records: [TriggerRecord]) async throws(StoreError) {
        guard let first = records.first else { return }
        try await writer.write("store the trigger \(first.trigger) of \(first.integration)") { transaction in
            for record in records { try Self.record(record, transaction) }
        }
    }

    private static func record(_ record: TriggerRecord, _ transaction: StoreTransaction) throws {
        let integration = try Self.integrationRow(record.integration, transaction.db)
        try transaction.db.change(
            """
            INSERT INTO triggers
                (integration, "trigger", attempt, phase, state, reason, started_at, ended_at, log, run, version)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (integration, "trigger", attempt) DO UPDATE SET phase = excluded.phase,
                state = excluded.state, reason = excluded.reason, started_at = excluded.started_at,
                ended_at = excluded.ended_at, log = excluded.log, version = excluded.version
            """,
            [
                integration, record.trigger.description, record.attempt, record.phase.rawValue,
                record.state.rawValue, record.reason?.kept, record.startedAt.millisecondsSinceEpoch,
                record.endedAt?.millisecondsSinceEpoch, record.log, record.run,
                record.version?.description,
            ])
        transaction.changed(.integration(record.integration))
        transaction.passes("trigger.\(record.state.rawValue)")
    }

    /// Returns all attempts of all triggers of an integration, in the order in which they were first stored.
    package func triggers(of id: IntegrationID) async throws(StoreError) -> [TriggerRecord] {
        try await read("read the triggers of \(id)") { db in
            try db.rows(
                """
                SELECT triggers.* FROM triggers JOIN integrations ON integrations.id = integration
                JOIN bots ON bots.id = bot WHERE name = ? AND number = ? ORDER BY triggers.id
                """,
                [id.bot.description, id.number]
            ).map { row in
                TriggerRecord(
                    integration: id, trigger: try row.name("trigger"), attempt: try row["attempt"],
                    run: try row["run"], phase: try row.value("phase") { Trigger.Phase(rawValue: $0) },
                    state: try row.value("state") { TriggerState(rawValue: $0) }, reason: try row["reason"],
                    startedAt: try row.time("started_at"), endedAt: try row.optionalTime("ended_at"),
                    log: try row["log"],
                    version: try row.optional("version") { SemanticVersion($0) })
            }
        }
    }
}
