import GRDB
import Model

/// Stores notices about the changes that an integration's end causes, in the same transaction.
extension Store {
    /// Updates the branch's health, and stores a message for each recipient of the change.
    static func announceTransitions(
        of record: IntegrationRecord, at time: Timestamp, _ transaction: StoreTransaction
    ) throws {
        // A pull request has its own page and comment.
        guard record.pull == nil, let verdict = record.state.verdict else { return }
        let isTriggers = record.state == .completed(.canceled, triggerFailed: true)
        guard BranchHealth.isDetermined(by: verdict) || isTriggers else { return }
        let notices = try notices(of: record.id.bot, transaction)
        guard !notices.isEmpty else { return }
        let db = transaction.db
        let notified = Transition.NotifiedIntegration(
            number: record.id.number, run: record.run, verdict: verdict,
            hasNewTriggerFailure: try isTriggers && !isAfterTriggerFailure(record, db))
        let before = try health(of: record, db)
        let news = try countNews(of: record, db)
        let transitions = Transition.all(of: notified, after: before, news: news)
        if let after = BranchHealth.after(notified, before: before), after != before {
            try store(after, of: record, db)
        }
        for destination in notices {
            guard let notice = destination.notice, notice.matches(record.ref),
                let transition = notice.transition(among: transitions)
            else { continue }
            var content = OutboxContent(
                moment: .completed, commit: record.commit, ref: record.ref, at: time, run: record.run, verdict: verdict,
                reason: record.reason?.kept(maximumNoteBytes))
            if case .completed(_, triggerFailed: true) = record.state { content.hasFailedTrigger = true }
            content.notice = NoticeContent(
                name: notice.name, transition: transition, brokenBy: transition == .fixed ? before?.brokenBy : nil)
            try tell(
                destination, content, of: record.id, authors: try authors(of: record, for: notice, db), transaction)
        }
    }

    /// Stores a message for each recipient of notices about published versions.
    static func announceRelease(
        _ version: VersionRecord, at time: Timestamp, _ transaction: StoreTransaction
    ) throws {
        let id = version.integration
        for destination in try notices(of: id.bot, transaction) {
            guard let notice = destination.notice, notice.matches(version.ref), notice.when.contains(.released) else {
                continue
            }
            var content = OutboxContent(
                moment: .published, commit: version.commit, ref: version.ref, at: time,
                version: version.version.description)
            content.notice = NoticeContent(name: notice.name, transition: .released, product: version.product)
            try tell(destination, content, of: id, authors: [], transaction)
        }
    }

    private static func notices(
        of bot: Name, _ transaction: StoreTransaction
    ) throws -> [OutboxDestination] {
        try destinations(of: bot, transaction).filter { $0.notice != nil }
    }

    /// Stores one message for a webhook, or one for each recipient of a mail.
    private static func tell(
        _ destination: OutboxDestination, _ content: OutboxContent, of id: IntegrationID, authors: [String],
        _ transaction: StoreTransaction
    ) throws {
        guard let notice = destination.notice else { return }
        func tell(_ recipient: String?, leftOut: Int? = nil) throws {
            var content = content
            content.notice?.recipient = recipient
            content.notice?.leftOut = leftOut
            // Each recipient gets the notices of a branch in order.
            let subject = "\(id.bot) \(content.ref) \(recipient ?? notice.name.description)"
            try insertMessage(
                try jsonText(content), to: destination, subject: subject, bot: id.bot, integration: id, job: nil,
                at: content.at, transaction)
        }
        guard case .mail(let named, _) = notice.target else { return try tell(nil) }
        var seen: Set<String> = []
        let recipients = (named.map(\.address) + authors).filter { seen.insert($0.lowercased()).inserted }
        let leftOut = recipients.count - Notice.maximumRecipients
        for recipient in recipients.prefix(Notice.maximumRecipients) {
            try tell(recipient, leftOut: leftOut > 0 ? leftOut : nil)
        }
    }

    /// Returns the branch's health before an integration.
    /// - Returns: The health that earlier integrations show if it is not stored or older, as for a bot without notices until now; `nil` if unknown.
    private static func health(of record: IntegrationRecord, _ db: Database) throws -> BranchHealth? {
        let kept: BranchHealth? = try db.first(
            """
            SELECT is_good, standings.number, broken_number, broken_run FROM standings JOIN bots ON bots.id = standings.bot
            WHERE name = ? AND ref = ?
            """, [record.id.bot.description, record.ref.description]
        ) { row in
            let broken: (Int?, Int?) = (try row["broken_number"], try row["broken_run"])
            return BranchHealth(
                isGood: try row["is_good"], number: try row["number"],
                brokenBy: broken.0.flatMap { number in broken.1.map { BranchHealth.Run(number: number, run: $0) } })
        }
        guard let previous = try previous(of: record.id, db), let verdict = previous.state.verdict,
            previous.id.number > kept?.number ?? 0
        else { return kept }
        return BranchHealth(isGood: verdict.isPublishable, number: previous.id.number)
    }

    /// Returns whether a failed trigger canceled the branch's previous integration, too. Other canceled integrations, and those that ended with our
    /// own errors, are skipped.
    private static func isAfterTriggerFailure(_ record: IntegrationRecord, _ db: Database) throws -> Bool {
        try db.first(
            """
            SELECT verdict = 'canceled' FROM integrations JOIN bots ON bots.id = bot
            WHERE name = ? AND ref = ? AND number < ? AND state = 'completed' AND removed_at IS NULL AND (
                verdict = 'canceled' AND trigger_failed OR verdict NOT IN ('canceled', 'checkout-error', 'internal-error'))
            ORDER BY number DESC LIMIT 1
            """, [record.id.bot.description, record.ref.description, record.id.number]
        ) { try $0[0] } ?? false
    }

    /// The most branches and tags of a bot whose health is stored. For other refs the previous integration determines it.
    static let maximumBranchHealths = 1000

    private static func store(_ health: BranchHealth, of record: IntegrationRecord, _ db: Database) throws {
        try db.change(
            """
            INSERT OR REPLACE INTO standings (bot, ref, is_good, number, broken_number, broken_run)
            SELECT id, ?, ?, ?, ?, ? FROM bots WHERE name = ?
            """,
            [
                record.ref.description, health.isGood, health.number, health.brokenBy?.number,
                health.brokenBy?.run, record.id.bot.description,
            ])
        try db.change(
            """
            DELETE FROM standings WHERE bot = (SELECT id FROM bots WHERE name = ?1) AND ref IN (
                SELECT ref FROM standings WHERE bot = (SELECT id FROM bots WHERE name = ?1)
                ORDER BY number DESC LIMIT -1 OFFSET \(maximumBranchHealths))
            """, [record.id.bot.description])
    }

    /// The condition for the visible issues that `Issue.isNotified` describes.
    private static let news =
        "integration = ?1 AND issue_set = (SELECT issue_set FROM integrations WHERE id = ?1) AND status = 'new' AND category <> 'warning'"

    private static func countNews(of record: IntegrationRecord, _ db: Database) throws -> Int {
        try db.first("SELECT count(*) FROM issues WHERE \(news)", [record.rowID]) { try $0[0] } ?? 0
    }

    /// Returns the addresses of the confident suspects of new issues, within the notice's domains.
    private static func authors(of record: IntegrationRecord, for notice: Notice, _ db: Database) throws -> [String] {
        guard case .mail(_, let domains) = notice.target, !domains.isEmpty else { return [] }
        let found = try db.all(
            "SELECT introduced_by FROM issues WHERE \(news) AND introduced_by IS NOT NULL ORDER BY place LIMIT 1000",
            [record.rowID]
        ) { try $0.json("introduced_by", as: Introduction.self) }
        return found.compactMap { $0 }.filter { $0.confidence == .high }
            .compactMap { MailAddress(address: $0.email) }.filter { domains.contains($0.domain) }.map(\.address)
    }
}
