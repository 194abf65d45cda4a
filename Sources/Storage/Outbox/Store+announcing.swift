import GRDB
import Model

/// Outgoing messages are stored in the transaction of the change that causes them, so neither exists without the other.
extension Store {
    /// Stores the messages about an integration's current state.
    static func announce(
        _ record: IntegrationRecord, at time: Timestamp, _ transaction: StoreTransaction
    ) throws {
        var content = OutboxContent(
            moment: .queued, commit: record.headCommit, ref: record.ref, base: record.pull?.base, at: time,
            run: record.run,
            reason: record.reason)
        switch record.state {
        case .queued: break
        case .running: content.moment = .started
        case .completed where record.isSkipped:
            content.moment = .skipped
            content.reason = record.reason.map { String($0.trimmingPrefix("skipped: ")) }
        case .completed(let verdict, let hasFailedTrigger):
            content.moment = .completed
            content.verdict = verdict
            content.hasFailedTrigger = hasFailedTrigger
        }
        try announce(content, bot: record.id.bot, integration: record.id, job: nil, transaction)
    }

    /// Stores the messages about a job of an integration.
    /// - Parameter verdict: The job's verdict; `nil` while it has none.
    static func announce(
        job: Name, of record: IntegrationRecord, hasBegun: Bool, verdict: Verdict? = nil, reason: String? = nil,
        at time: Timestamp, _ transaction: StoreTransaction
    ) throws {
        let content = OutboxContent(
            moment: .jobs, commit: record.headCommit, ref: record.ref, base: record.pull?.base, at: time,
            run: record.run, verdict: verdict,
            hasBegun: hasBegun, reason: reason)
        try announce(content, bot: record.id.bot, integration: record.id, job: job, transaction)
    }

    /// Stores the messages about an attempt's job. It does not read the integration if the bot has no destinations.
    static func announce(
        _ attempt: AttemptRecord, at time: Timestamp, _ transaction: StoreTransaction
    ) throws {
        let id = attempt.id.integration
        guard try !destinations(of: id.bot, transaction).isEmpty else { return }
        var hasBegun = true
        if case .queued = attempt.state { hasBegun = false }
        try announce(
            job: attempt.id.job, of: try integration(id, transaction.db), hasBegun: hasBegun,
            verdict: attempt.state.verdict, reason: attempt.reason, at: time, transaction)
    }

    /// Repeats the current outcome of an integration and these jobs. The outcome has not changed, so only destinations that show a state get it.
    static func announceAgain(
        _ record: IntegrationRecord, jobs: [Name], at time: Timestamp, _ transaction: StoreTransaction
    ) throws {
        func announceAgain(_ verdict: Verdict?, _ reason: String?, job: Name?) throws {
            guard let verdict else { return }
            var hasFailedTrigger = false
            if job == nil, case .completed(_, triggerFailed: true) = record.state { hasFailedTrigger = true }
            let content = OutboxContent(
                moment: job == nil ? .completed : .jobs, commit: record.headCommit, ref: record.ref,
                base: record.pull?.base, at: time,
                run: record.run, verdict: verdict, hasFailedTrigger: hasFailedTrigger, hasBegun: job != nil,
                reason: reason)
            try announce(
                content, bot: record.id.bot, integration: record.id, job: job, onlyToReplace: true, transaction)
        }
        for job in jobs {
            let last = try transaction.db.first(
                "SELECT verdict, reason FROM attempts WHERE integration = ? AND job = ? ORDER BY attempt DESC LIMIT 1",
                [record.rowID, job.description]
            ) { (verdict: try $0.optional("verdict") { Verdict(rawValue: $0) }, reason: try $0["reason"] as String?) }
            try announceAgain(last?.verdict, last?.reason, job: job)
        }
        try announceAgain(record.state.verdict, record.reason, job: nil)
    }

    /// Repeats the outcome of an earlier integration of the same commit, if an integration that no push caused was canceled: a commit is not at fault
    /// if somebody canceled its nightly run.
    static func announceBefore(
        _ record: IntegrationRecord, at time: Timestamp, _ transaction: StoreTransaction
    ) throws {
        let isAgain = [.upgrade, .schedule, .person].contains(record.cause) || record.isSkipped
        guard record.state.verdict == .canceled, isAgain else { return }
        guard try !destinations(of: record.id.bot, transaction).isEmpty else { return }
        let earlier = try transaction.db.first(
            integrationQuery + """
                 WHERE bots.name = ? AND ref = ? AND number < ? AND coalesce(head, "commit") = ?
                AND state = 'completed' AND verdict <> 'canceled' ORDER BY number DESC LIMIT 1
                """,
            [record.id.bot.description, record.ref.description, record.id.number, record.headCommit.description],
            integration)
        guard let earlier else { return }
        let jobs = try transaction.db.all(
            "SELECT DISTINCT job FROM attempts WHERE integration = ?", [earlier.rowID]
        ) { try $0.name("job") }
        try announceAgain(earlier, jobs: jobs, at: time, transaction)
    }

    /// Stores a message for each of the bot's destinations that subscribes to this moment. Older unsent messages with the same subject are superseded
    /// where the newer one replaces them.
    /// - Parameter onlyToReplace: Whether only destinations that show a state get it.
    static func announce(
        _ content: OutboxContent, bot: Name, integration: IntegrationID?, job: Name?, onlyToReplace: Bool = false,
        _ transaction: StoreTransaction
    ) throws {
        let destinations = try destinations(of: bot, transaction).filter {
            $0.moments.contains(content.moment) && ($0.kind.isReplaceable || !onlyToReplace)
                && ($0.kind != .comment || content.ref.pullRequest != nil)
        }
        guard !destinations.isEmpty else { return }
        var content = content
        content.reason = content.reason.map { $0.kept(maximumNoteBytes) }
        let text = try jsonText(content)
        let time = content.at.millisecondsSinceEpoch
        for destination in destinations {
            let subject = subject(of: content, bot: bot, job: job, destination)
            if destination.kind.isReplaceable {
                try transaction.db.change(
                    supersede, [time, destination.kind.rawValue, destination.name, subject])
            }
            try insertMessage(
                text, to: destination, subject: subject, bot: bot, integration: integration, job: job, at: content.at,
                transaction)
        }
    }

    /// Stores one waiting message.
    /// - Parameter content: The message's content as JSON.
    static func insertMessage(
        _ content: String, to destination: OutboxDestination, subject: String, bot: Name, integration: IntegrationID?,
        job: Name?, at time: Timestamp, _ transaction: StoreTransaction
    ) throws {
        try transaction.db.change(
            insertion,
            [
                destination.kind.rawValue, destination.name, subject, bot.description, integration?.number,
                job?.description, content, time.millisecondsSinceEpoch, destination.account ?? "",
            ])
        transaction.changed(.outbox)
        transaction.passes("outbox.waiting")
    }

    /// The first condition is the index's: SQLite does not see that the second implies it.
    static let supersede = """
        UPDATE outbox SET state = 'superseded', ended_at = ? WHERE kind = ? AND destination = ?
        AND subject = ? AND state IN ('waiting', 'sending') AND state = 'waiting'
        """

    static let insertion = """
        INSERT INTO outbox (kind, destination, subject, bot, number, job, content, state, next_at, created_at, account, is_first)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 'waiting', ?8, ?8, ?9, NOT EXISTS (
            SELECT 1 FROM outbox WHERE kind = ?1 AND destination = ?2 AND subject = ?3
            AND state IN ('waiting', 'sending')))
        """

    /// The most bytes kept of a reason or a note.
    static let maximumNoteBytes = 1024

    /// Returns the subject of a message. Only the newest message of a subject is shown, or its messages are sent in order.
    private static func subject(
        of content: OutboxContent, bot: Name, job: Name?, _ destination: OutboxDestination
    ) -> String {
        switch destination.kind {
        case .status:
            "\(bot)\(content.scope)\(job.map { "/\($0)" } ?? "") \(content.commit)"
                + (destination.isByRef ? " \(content.ref)" : "")
        case .comment, .mail, .webhook: "\(bot) \(content.ref)"
        }
    }

    static func destinations(
        of bot: Name, _ transaction: StoreTransaction
    ) throws -> [OutboxDestination] {
        try transaction.db.first("SELECT destinations FROM bots WHERE name = ?", [bot.description]) { row in
            // Most bots have no destinations.
            if try row[0] as String == "[]" { return [] }
            return try row.json("destinations", as: [OutboxDestination].self) ?? []
        } ?? []
    }
}
