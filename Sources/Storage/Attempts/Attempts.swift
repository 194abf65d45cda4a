import GRDB
package import Model

/// The id of one attempt of a job, written `kit#41/debug/1`.
package struct AttemptID: Hashable, Sendable, Comparable, CustomStringConvertible {
    package let integration: IntegrationID
    /// The configuration's name.
    package let job: Name
    /// The attempt's number, counted from 1.
    package let attempt: Int

    package init(integration: IntegrationID, job: Name, attempt: Int) {
        self.integration = integration
        self.job = job
        self.attempt = attempt
    }

    package var description: String { "\(integration)/\(job)/\(attempt)" }

    package static func < (left: AttemptID, right: AttemptID) -> Bool {
        (left.integration, left.job, left.attempt) < (right.integration, right.job, right.attempt)
    }
}

/// One attempt of a job as it is stored.
package struct AttemptRecord: Hashable, Sendable {
    package var id: AttemptID
    package var state: AttemptState
    /// The integration's run that the attempt belongs to.
    package var run: Int
    /// The filter of the tests to run, in the test tool's syntax; `nil`: all tests.
    package var testFilter: String?
    /// `not analyzed`, `clean` or `3 findings`; `nil` until the attempt is processed.
    package var analysis: String?
    /// A text that states what was tested; `nil` until the attempt is processed.
    package var tested: String?
    /// The attempt's counts; `nil` until it is processed. Changes are counted per integration, so they are zero here.
    package var summary: Summary?
    package var reason: String?
    /// Sentences shown on the page: `report unreadable: …`.
    package var notes: [String]
    /// How the attempt was isolated from the machine; `nil` until it is prepared.
    package var isolation: Isolation?
    package var queuedAt: Timestamp
    package var startedAt: Timestamp?
    package var endedAt: Timestamp?
    /// The steps, ordered by index.
    package var steps: [StepRecord]

    package init(
        id: AttemptID, state: AttemptState = .queued, run: Int = 1, testFilter: String? = nil, analysis: String? = nil,
        tested: String? = nil, summary: Summary? = nil, reason: String? = nil, notes: [String] = [],
        isolation: Isolation? = nil, queuedAt: Timestamp, startedAt: Timestamp? = nil, endedAt: Timestamp? = nil,
        steps: [StepRecord] = []
    ) {
        self.id = id
        self.state = state
        self.run = run
        self.testFilter = testFilter
        self.analysis = analysis
        self.tested = tested
        self.summary = summary
        self.reason = reason
        self.notes = notes
        self.isolation = isolation
        self.queuedAt = queuedAt
        self.startedAt = startedAt
        self.endedAt = endedAt
        self.steps = steps
    }
}

/// One step of an attempt as it ran.
package struct StepRecord: Hashable, Sendable {
    /// The step's index in the job's steps, counted from 0.
    package var index: Int
    package var step: JobStep
    package var name: String
    package var startedAt: Timestamp
    package var endedAt: Timestamp?
    /// The exit status; `nil` if the process did not exit by itself.
    package var exit: Int?
    /// The number of the signal that ended the process; `nil` if none did.
    package var signal: Int?
    /// The exceeded limit that ended the step: `time` or `log`; `nil` if none did.
    package var limit: String?

    package init(
        index: Int, step: JobStep, name: String, startedAt: Timestamp, endedAt: Timestamp? = nil, exit: Int? = nil,
        signal: Int? = nil, limit: String? = nil
    ) {
        self.index = index
        self.step = step
        self.name = name
        self.startedAt = startedAt
        self.endedAt = endedAt
        self.exit = exit
        self.signal = signal
        self.limit = limit
    }
}

extension Store {
    /// Adds the next attempt of a job of an integration, in the integration's latest run.
    /// - Parameter testFilter: The filter of the tests to run, in the test tool's syntax; `nil`: all tests.
    package func addAttempt(
        to id: IntegrationID, job: Name, testFilter: String? = nil, at time: Timestamp
    ) async throws(StoreError) -> AttemptRecord {
        try await writer.write("add an attempt at \(id)/\(job)") { transaction in
            let integration = try Self.integration(id, transaction.db)
            return try Self.insertAttempt(at: job, of: integration, testFilter: testFilter, at: time, transaction)
        }
    }

    static func insertAttempt(
        at job: Name, of integration: IntegrationRecord, testFilter: String?, at time: Timestamp,
        _ transaction: StoreTransaction
    ) throws -> AttemptRecord {
        let last: Int? = try transaction.db.first(
            "SELECT coalesce(max(attempt), 0) FROM attempts WHERE integration = ? AND job = ?",
            [integration.rowID, job.description]
        ) { try $0[0] }
        let attempt = AttemptID(integration: integration.id, job: job, attempt: (last ?? 0) + 1)
        try transaction.db.change(
            """
            INSERT INTO attempts (integration, job, attempt, state, queued_at, run, test_filter)
            VALUES (?, ?, ?, 'queued', ?, ?, ?)
            """,
            [
                integration.rowID, job.description, attempt.attempt, time.millisecondsSinceEpoch, integration.run,
                testFilter,
            ])
        transaction.changed(.integration(integration.id))
        transaction.passes("attempt.queued")
        try announce(job: job, of: integration, hasBegun: false, at: time, transaction)
        return AttemptRecord(id: attempt, run: integration.run, testFilter: testFilter, queuedAt: time)
    }

    /// Returns whether any stored attempt ran in the sandbox.
    package func hasSandboxedAttempts() async throws(StoreError) -> Bool {
        try await read("find sandboxed attempts") { db in
            try db.value(
                "SELECT EXISTS (SELECT 1 FROM attempts WHERE isolation = ?)",
                [Isolation.sandbox.description.kept]) ?? false
        }
    }

    /// Whether an attempt of an integration that is not completed has no verdict yet, so that its job may run.
    package func hasUnfinishedAttempts() async throws(StoreError) -> Bool {
        try await read("find unfinished attempts") { db in
            try db.value(
                """
                SELECT EXISTS (SELECT 1 FROM attempts WHERE state <> 'processed'
                    AND integration IN (SELECT id FROM integrations WHERE state <> 'completed'))
                """) ?? false
        }
    }

    /// Changes an attempt's state by Model's state machine.
    /// - Parameters:
    ///   - reason: The new reason; `nil` keeps the earlier one.
    ///   - isolation: The attempt's isolation from the machine; `nil` keeps the earlier one.
    /// - Throws: `illegalTransition` without storing a change; `notFound`.
    @discardableResult
    package func apply(
        _ event: AttemptState.Event, to id: AttemptID, at time: Timestamp, reason: String? = nil,
        isolation: Isolation? = nil
    ) async throws(StoreError) -> AttemptRecord {
        try await writer.write("change \(id)") { transaction in
            try Self.apply(event, to: id, at: time, reason: reason, isolation: isolation, transaction)
        }
    }

    static func apply(
        _ event: AttemptState.Event, to id: AttemptID, at time: Timestamp, reason: String?, isolation: Isolation? = nil,
        _ transaction: StoreTransaction
    ) throws -> AttemptRecord {
        var (row, record) = try attempt(id, transaction.db)
        let before = record.state
        try record.state.apply(event)
        var step: JobStep?
        switch record.state {
        case .queued: break
        case .running(let now):
            step = now
            record.startedAt = record.startedAt ?? time
        case .ended, .processed: record.endedAt = record.endedAt ?? time
        }
        record.reason = reason?.kept ?? record.reason
        record.isolation = isolation ?? record.isolation
        try transaction.db.change(
            """
            UPDATE attempts SET state = ?, step = ?, verdict = ?, reason = ?, started_at = ?, ended_at = ?, isolation = ?
            WHERE id = ?
            """,
            [
                record.state.word, step?.rawValue, record.state.verdict?.rawValue, record.reason,
                record.startedAt?.millisecondsSinceEpoch, record.endedAt?.millisecondsSinceEpoch,
                record.isolation?.description.kept, row,
            ])
        transaction.changed(.integration(id.integration))
        transaction.passes("attempt.\(step?.rawValue ?? record.state.word)")
        // The start and the verdict are announced, but not each step.
        if before == .queued || record.state.verdict != nil { try announce(record, at: time, transaction) }
        return record
    }

    /// Stores a step when it starts, and again, under the same index, when it ends.
    /// - Throws: `illegalTransition` without storing a change; `notFound`.
    package func record(step: StepRecord, of id: AttemptID, isEntered: Bool = false) async throws(StoreError) {
        try await record(steps: [StepChange(step, isEntered: isEntered)], of: id)
    }

    /// Stores several step changes in their order, in one transaction.
    package func record(steps: [StepChange], of id: AttemptID) async throws(StoreError) {
        try await writer.write("store steps of \(id)") { transaction in
            try Self.record(steps, of: id, transaction)
        }
    }

    static func record(_ changes: [StepChange], of id: AttemptID, _ transaction: StoreTransaction) throws {
        guard !changes.isEmpty else { return }
        let attempt = try attemptRow(id, transaction.db)
        for change in changes {
            let step = change.step
            if change.isEntered {
                _ = try apply(.entered(step.step), to: id, at: step.startedAt, reason: nil, transaction)
            }
            try transaction.db.change(
                """
                INSERT OR REPLACE INTO steps (attempt, place, step, name, started_at, ended_at, exit, signal, "limit")
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
                [
                    attempt, step.index, step.step.rawValue, step.name.kept, step.startedAt.millisecondsSinceEpoch,
                    step.endedAt?.millisecondsSinceEpoch, step.exit, step.signal, step.limit,
                ])
            transaction.passes(step.endedAt == nil ? "step.started" : "step.ended")
        }
        transaction.changed(.integration(id.integration))
    }

    /// Returns the attempts of every job of an integration, in the order in which they were added.
    package func attempts(of id: IntegrationID) async throws(StoreError) -> [AttemptRecord] {
        try await read("read the attempts of \(id)") { db in
            try db.all(
                Self.attemptQuery + " WHERE name = ? AND number = ? ORDER BY attempts.id",
                [id.bot.description, id.number]
            ) { try Self.attempt($0, of: id, db) }
        }
    }

    static let attemptQuery = """
        SELECT attempts.* FROM attempts JOIN integrations ON integrations.id = integration JOIN bots ON bots.id = bot
        """

    static func attemptRow(_ id: AttemptID, _ db: Database) throws -> Int64 {
        try attempt(id, db) { try $0["id"] }
    }

    static func attempt(_ id: AttemptID, _ db: Database) throws -> (row: Int64, record: AttemptRecord) {
        try attempt(id, db) { (try $0["id"], try attempt($0, of: id.integration, db)) }
    }

    private static func attempt<Value>(
        _ id: AttemptID, _ db: Database, _ map: (StoredRow) throws -> Value
    ) throws -> Value {
        let found = try db.first(
            attemptQuery + " WHERE name = ? AND number = ? AND job = ? AND attempt = ?",
            [id.integration.bot.description, id.integration.number, id.job.description, id.attempt], map)
        guard let found else { throw Refusal.notFound("attempt \(id)") }
        return found
    }

    private static func attempt(_ row: StoredRow, of integration: IntegrationID, _ db: Database) throws -> AttemptRecord
    {
        let state: AttemptState =
            switch try row["state"] as String {
            case "queued": .queued
            case "running": .running(try row.value("step") { JobStep(rawValue: $0) })
            case "ended": .ended
            default: .processed(try row.value("verdict") { Verdict(rawValue: $0) })
            }
        let steps = try db.all(
            "SELECT * FROM steps WHERE attempt = ? ORDER BY place", [try row["id"] as Int64], step)
        return AttemptRecord(
            id: AttemptID(integration: integration, job: try row.name("job"), attempt: try row["attempt"]),
            state: state,
            run: try row["run"], testFilter: try row["test_filter"], analysis: try row["analysis"],
            tested: try row["tested"],
            summary: try row.summary("summary"),
            reason: try row["reason"], notes: try row.json("notes", as: [String].self) ?? [],
            isolation: (try row["isolation"] as String?).flatMap(Isolation.init), queuedAt: try row.time("queued_at"),
            startedAt: try row.optionalTime("started_at"),
            endedAt: try row.optionalTime("ended_at"), steps: steps)
    }

    private static func step(_ row: StoredRow) throws -> StepRecord {
        StepRecord(
            index: try row["place"], step: try row.value("step") { JobStep(rawValue: $0) }, name: try row["name"],
            startedAt: try row.time("started_at"), endedAt: try row.optionalTime("ended_at"), exit: try row["exit"],
            signal: try row["signal"], limit: try row["limit"])
    }
}
