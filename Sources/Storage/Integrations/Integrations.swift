import GRDB
package import Model

/// An integration to be queued. A moved ref, a user, a schedule or an upgrade may have caused it.
package struct NewIntegration: Hashable, Sendable {
    package var bot: Name
    package var ref: RefName
    package var commit: CommitID
    package var cause: Cause
    /// The token's name or the machine's user that requested it; `nil` if no user did.
    package var requestedBy: String?
    /// Whether it may publish or upload.
    package var isRelease: Bool
    /// Whether the workspace is emptied first.
    package var isClean: Bool
    /// Its pull request; `nil` for a branch or a tag.
    package var pull: IntegratedPullRequest?

    package init(
        bot: Name, ref: RefName, commit: CommitID, cause: Cause, requestedBy: String? = nil, isRelease: Bool = false,
        isClean: Bool = false, pull: IntegratedPullRequest? = nil
    ) {
        self.pull = pull
        self.bot = bot
        self.ref = ref
        self.commit = commit
        self.cause = cause
        self.requestedBy = requestedBy
        self.isRelease = isRelease
        self.isClean = isClean
    }
}

/// The facts about a commit that an integration stores, so that pages do not need the mirror.
package struct CommitSummary: Hashable, Sendable {
    /// The first line of the message; stored up to `Store.maximumTextBytes`.
    package var subject: String
    /// The author's name.
    package var author: String
    package var committedAt: Timestamp
    /// The tree's id, in hexadecimal.
    package var tree: String

    package init(subject: String, author: String, committedAt: Timestamp, tree: String) {
        self.subject = subject
        self.author = author
        self.committedAt = committedAt
        self.tree = tree
    }
}

extension Store {
    /// Queues an integration that no ref update causes, under the bot's next number, and stores the event that causes it.
    /// - Parameter event: Returns the event to record; `nil` to record none.
    /// - Throws: `notFound` if no such bot is registered, or it is retired; the errors of `record(_:)`.
    package func queue(
        _ new: NewIntegration, at time: Timestamp, recording event: (@Sendable (IntegrationRecord) -> NewEvent)? = nil
    ) async throws(StoreError) -> IntegrationRecord {
        try await writer.write("queue an integration of \(new.bot)") { transaction in
            let bot = try Self.registeredBot(new.bot, transaction.db)
            return try Self.queue(new, of: bot, at: time, recording: event, transaction)
        }
    }

    typealias RegisteredBot = (id: Int64, repository: Int64)

    /// Returns the rows of a bot that is not retired, and of its repository.
    /// - Throws: `notFound`.
    static func registeredBot(_ name: Name, _ db: Database) throws -> RegisteredBot {
        let bot: RegisteredBot? = try db.first(
            "SELECT id, repository FROM bots WHERE name = ? AND is_retired = 0", [name.description]
        ) { (id: try $0["id"], repository: try $0["repository"]) }
        guard let bot else { throw Refusal.notFound("bot \(name)") }
        return bot
    }

    static func queue(
        _ new: NewIntegration, of bot: RegisteredBot, at time: Timestamp,
        recording event: ((IntegrationRecord) -> NewEvent)?, _ transaction: StoreTransaction
    ) throws -> IntegrationRecord {
        let id = try insert(new, bot: bot.id, repository: bot.repository, refUpdate: nil, at: time, transaction)
        let record = try integration(id, transaction.db)
        if let event { _ = try self.record(event(record), transaction) }
        return record
    }

    /// Inserts a queued integration. Its number comes from the bot's counter, so that no number is used twice.
    static func insert(
        _ new: NewIntegration, bot: Int64, repository: Int64, refUpdate: Int64?, at time: Timestamp,
        _ transaction: StoreTransaction
    ) throws -> IntegrationID {
        let number: Int? = try transaction.db.first(
            "UPDATE bots SET last_number = last_number + 1 WHERE id = ? RETURNING last_number", [bot]
        ) { try $0[0] }
        guard let number else { throw Refusal.notFound("bot \(new.bot)") }
        try transaction.db.change(
            """
            INSERT INTO integrations (bot, number, repository, ref, "commit", cause, ref_update, requested_by, state,
                step, is_release, is_clean, queued_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'queued', 'pending', ?, ?, ?)
            """,
            [
                bot, number, repository, new.ref.description, new.commit.description, new.cause.rawValue, refUpdate,
                new.requestedBy?.kept, new.isRelease, new.isClean, time.millisecondsSinceEpoch,
            ])
        if let pull = new.pull { try store(pull, of: transaction.db.lastInsertedRowID, transaction.db) }
        let id = IntegrationID(bot: new.bot, number: number)
        try announce(
            OutboxContent(
                moment: .queued, commit: new.pull?.head ?? new.commit, ref: new.ref, base: new.pull?.base, at: time),
            bot: new.bot, integration: id, job: nil, transaction)
        transaction.changed(.queued(id))
        transaction.passes("integration.queued")
        return id
    }

    /// Returns an integration; `nil` if it does not exist.
    package func integration(_ id: IntegrationID) async throws(StoreError) -> IntegrationRecord? {
        try await read("read \(id)") { db in try Self.optionalIntegration(id, db) }
    }

    /// Returns the integration before this one: the newest earlier completed one of the same bot and ref, or of a pull request's base. Canceled
    /// integrations, and those that ended with our own errors, are skipped because they do not judge the code.
    /// - Returns: `nil` if there is none.
    package func previous(of id: IntegrationID) async throws(StoreError) -> IntegrationRecord? {
        try await read("read the integration before \(id)") { db in try Self.previous(of: id, db) }
    }

    static func previous(of id: IntegrationID, _ db: Database) throws -> IntegrationRecord? {
        try db.first(
            Self.integrationQuery + """
                 WHERE bots.name = ? AND number < ? AND state = 'completed'
                AND verdict NOT IN ('canceled', 'checkout-error', 'internal-error')
                AND ref = (SELECT coalesce(base, ref) FROM integrations JOIN bots ON bots.id = bot
                    WHERE name = ? AND number = ?)
                ORDER BY number DESC LIMIT 1
                """,
            [id.bot.description, id.number, id.bot.description, id.number], Self.integration)
    }

    /// Changes an integration's state by Model's state machine.
    /// - Parameter reason: At the integration's end, it replaces the stored reason, also if `nil`. Before that, `nil` keeps the stored reason.
    /// - Throws: `illegalTransition` without storing a change; `notFound`.
    @discardableResult
    package func apply(
        _ event: IntegrationState.Event, to id: IntegrationID, at time: Timestamp, reason: String? = nil
    ) async throws(StoreError) -> IntegrationRecord {
        try await writer.write("change \(id)") { transaction in
            let record = try Self.integration(id, transaction.db)
            return try Self.apply(event, to: record, at: time, reason: reason, transaction)
        }
    }

    /// Cancels a queued integration before it starts.
    /// - Throws: `illegalTransition` without storing a change if it has begun or is completed; `notFound`.
    package func cancel(
        queued id: IntegrationID, at time: Timestamp, reason: String
    ) async throws(StoreError) {
        try await writer.write("cancel \(id) in the queue") { transaction in
            let record = try Self.integration(id, transaction.db)
            guard record.state == .queued else {
                throw IllegalTransition(state: "\(record.state)", event: "canceled in the queue")
            }
            _ = try Self.apply(
                .completed(.canceled, triggerFailed: false), to: record, at: time, reason: reason, transaction)
        }
    }

    static func apply(
        _ event: IntegrationState.Event, to record: IntegrationRecord, at time: Timestamp, reason: String?,
        _ transaction: StoreTransaction
    ) throws -> IntegrationRecord {
        var record = record
        try record.state.apply(event)
        switch record.state {
        case .queued: record.startedAt = nil
        case .running: record.startedAt = record.startedAt ?? time
        case .completed:
            record.endedAt = time
            try removeQueuedAttempts(of: record, at: time, reason: reason ?? record.reason, transaction)
        }
        // A stored reason for waiting is not the reason of the end.
        if case .completed = record.state {
            record.reason = reason?.kept
        } else {
            record.reason = reason?.kept ?? record.reason
        }
        try update(record, transaction)
        // Steps only appear on the integration's page, so they are not announced.
        if case .entered = event {} else { try announce(record, at: time, transaction) }
        if case .completed = event {
            try announceBefore(record, at: time, transaction)
            try announceTransitions(of: record, at: time, transaction)
        }
        transaction.passes("integration.\(record.state.step.rawValue)")
        if case .completed = record.state { transaction.changed(.completed(record.id)) }
        guard let verdict = record.state.verdict, let newer = record.supersededBy else { return record }
        if verdict == .canceled {
            try decideSuperseded(record, by: newer, transaction)
        } else {
            // It ended before it was canceled.
            record.supersededBy = nil
            try transaction.db.change("UPDATE integrations SET superseded_by = NULL WHERE id = ?", [record.rowID])
        }
        return record
    }

    /// Deletes the queued attempts of a run that ended before they started: a later run would treat them as its own.
    private static func removeQueuedAttempts(
        of record: IntegrationRecord, at time: Timestamp, reason: String?, _ transaction: StoreTransaction
    ) throws {
        let jobs = try transaction.db.all(
            "DELETE FROM attempts WHERE integration = ? AND state = 'queued' RETURNING job", [record.rowID]
        ) { try $0.name("job") }
        for job in jobs {
            try announce(
                job: job, of: record, hasBegun: false, verdict: .canceled, reason: reason, at: time, transaction)
        }
    }

    /// Stores the columns that a change of state affects.
    static func update(_ record: IntegrationRecord, _ transaction: StoreTransaction) throws {
        var hasFailedTrigger = false
        if case .completed(_, triggerFailed: true) = record.state { hasFailedTrigger = true }
        try transaction.db.change(
            """
            UPDATE integrations SET state = ?, step = ?, verdict = ?, trigger_failed = ?, reason = ?,
                started_at = ?, ended_at = ?, run = ?, is_skipped = ? WHERE id = ?
            """,
            [
                record.state.word, record.state.step.rawValue, record.state.verdict?.rawValue, hasFailedTrigger,
                record.reason, record.startedAt?.millisecondsSinceEpoch, record.endedAt?.millisecondsSinceEpoch,
                record.run, record.isSkipped, record.rowID,
            ])
        transaction.changed(.integration(record.id))
    }

    /// Begins the run of a waiting integration with its bot's current specification. The run keeps that specification to its end, even if the file
    /// changes. A running integration continues with the specification that its run began with.
    /// - Parameters:
    ///   - specification: The bot file's current specification; `nil` if there is no file: then the last stored one is used.
    ///   - preparation: The preparation that `recordPreparation` would store next, made with that specification. It is stored in the same transaction
    ///     if the integration has no recipe yet.
    /// - Returns: The integration's state and its specification. If the bot is unknown, the specification is `nil` and the run is not begun. `nil` if
    ///   the integration is completed, since the caller may have read the queue before its end.
    /// - Throws: `notFound`.
    package func takeUp(
        _ id: IntegrationID, as specification: BotSpecification?, with preparation: Preparation? = nil,
        at time: Timestamp
    ) async throws(StoreError) -> (integration: IntegrationRecord, specification: BotSpecification?)? {
        try await writer.write("begin \(id)") { transaction in
            let db = transaction.db
            let record = try Self.integration(id, db)
            guard record.state.verdict == nil else { return nil }
            if record.state != .queued, let recorded = try Self.specification(of: id, db) { return (record, recorded) }
            let current = try specification ?? Self.specification(of: id.bot, db)
            guard record.state == .queued, let current else { return (record, current) }
            try db.change(
                "UPDATE integrations SET specification = ? WHERE id = ?",
                [try jsonText(StoredSpecification(current)), record.rowID])
            let begun = try Self.apply(.started, to: record, at: time, reason: nil, transaction)
            guard let preparation, specification != nil, begun.recipe == nil else { return (begun, current) }
            return (try Self.prepare(id, with: preparation, at: time, transaction), current)
        }
    }

    /// Returns the bot's specification when an integration's latest run began; `nil` if it has not begun.
    package func specification(of id: IntegrationID) async throws(StoreError) -> BotSpecification? {
        try await read("read what \(id) runs as") { db in try Self.specification(of: id, db) }
    }

    private static func specification(of id: IntegrationID, _ db: Database) throws -> BotSpecification? {
        try db.first(
            "SELECT integrations.specification FROM integrations JOIN bots ON bots.id = bot WHERE name = ? AND number = ?",
            [id.bot.description, id.number]
        ) { try $0.specification() } ?? nil
    }

    /// Stores the recipe and the commit's summary, so that a rerun repeats the same recipe.
    /// - Returns: The updated integration.
    /// - Throws: `notFound`; `illegalTransition` if the preparation's step cannot be entered.
    @discardableResult
    package func recordPreparation(
        of id: IntegrationID, _ preparation: Preparation, at time: Timestamp
    ) async throws(StoreError) -> IntegrationRecord {
        try await writer.write("store the recipe of \(id)") { transaction in
            try Self.prepare(id, with: preparation, at: time, transaction)
        }
    }

    /// The recipe, the commit's summary, and the step to enter with them. Entering `running` queues an attempt of each configuration's job.
    package struct Preparation: Sendable {
        package var recipe: Recipe
        var commit: CommitSummary
        var step: IntegrationStep?

        package init(recipe: Recipe, commit: CommitSummary, step: IntegrationStep? = nil) {
            self.recipe = recipe
            self.commit = commit
            self.step = step
        }
    }

    private static func prepare(
        _ id: IntegrationID, with preparation: Preparation, at time: Timestamp, _ transaction: StoreTransaction
    ) throws -> IntegrationRecord {
        let (recipe, commit) = (preparation.recipe, preparation.commit)
        let rowID = try integrationRow(id, transaction.db)
        try transaction.db.change(
            "UPDATE integrations SET recipe = ?, subject = ?, author = ?, committed_at = ?, tree = ? WHERE id = ?",
            [
                try jsonText(recipe), commit.subject.kept, commit.author.kept,
                commit.committedAt.millisecondsSinceEpoch, commit.tree, rowID,
            ])
        transaction.changed(.integration(id))
        transaction.passes("integration.recipe")
        let record = try integration(id, transaction.db)
        guard let step = preparation.step else { return record }
        if step == .running {
            for configuration in recipe.configurations {
                _ = try insertAttempt(at: configuration.name, of: record, testFilter: nil, at: time, transaction)
            }
        }
        return try apply(.entered(step), to: record, at: time, reason: nil, transaction)
    }
}
