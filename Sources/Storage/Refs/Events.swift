import GRDB
package import Model

/// An event that may have moved a ref, as transaction 1 stores it.
package struct NewEvent: Hashable, Sendable {
    /// The repository to scan; `nil` if the event names no repository of a bot.
    package var repository: String?
    /// The bot whose hook received the event, or that it is for.
    package var bot: Name?
    package var source: EventSource
    /// The hook's name, the first half of a delivery's key: `github/kit`, `push/kit`.
    package var hook: String
    /// The forge's id of the delivery, the second half of its key. `nil` if the forge sends none: then the event is never a duplicate.
    package var deliveryID: String?
    /// SHA-256 of the raw body, which detects one id with two bodies.
    package var bodyDigest: String?
    /// The forge's name of the event: `push`, `ping`.
    package var event: String
    package var receivedAt: Timestamp
    /// At most `maximumClaims`.
    package var claims: [RefClaim]
    /// The pull request that the event is about.
    package var pull: PullRequestClaim?
    /// `pending` requests a scan; any other outcome is final.
    package var outcome: EventOutcome
    package var reason: String?

    /// The most refs in one event. `git push --mirror` of a big repository sends that many. More are refused with `tooLarge`.
    package static let maximumClaims = 10_000
    /// The most bytes of the hook's name, the delivery id and the event's name, each.
    package static let maximumNameBytes = 1024
    /// The longest delivery id, in bytes.
    package static let maximumDeliveryBytes = 128

    /// Whether a text can be the id of a delivery: 1 to `maximumDeliveryBytes` visible ASCII characters.
    package static func isDeliveryID(_ text: String) -> Bool {
        (1...maximumDeliveryBytes).contains(text.utf8.count) && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
    }

    package init(
        repository: String?, bot: Name? = nil, source: EventSource, hook: String, deliveryID: String? = nil,
        bodyDigest: String? = nil, event: String, receivedAt: Timestamp, claims: [RefClaim] = [],
        pull: PullRequestClaim? = nil, outcome: EventOutcome = .pending, reason: String? = nil
    ) {
        self.repository = repository
        self.bot = bot
        self.source = source
        self.hook = hook
        self.deliveryID = deliveryID
        self.bodyDigest = bodyDigest
        self.event = event
        self.receivedAt = receivedAt
        self.claims = claims
        self.pull = pull
        self.outcome = outcome
        self.reason = reason
    }
}

/// The result of storing an event.
package enum RecordedEvent: Hashable, Sendable {
    case stored(DeliveryRecord)
    /// The same hook, delivery id and body were stored before. No row was changed.
    case duplicate(of: DeliveryRecord)
    /// The same hook and delivery id were stored before with another body. No row was changed, and the event must be refused.
    case conflict(with: DeliveryRecord)
}

extension Store {
    /// Runs transaction 1: stores an event and, if its outcome is pending, a request to scan its repository.
    /// - Returns: `duplicate` or `conflict` if the hook's delivery id was stored before; then no row is changed.
    /// - Throws: `tooLarge` for more claims or longer names than `NewEvent` allows.
    package func record(_ event: NewEvent) async throws(StoreError) -> RecordedEvent {
        try await writer.write("store the event \(event.event.kept(80)) of \(event.hook.kept(80))") { transaction in
            try Self.record(event, transaction)
        }
    }

    static func record(_ event: NewEvent, _ transaction: StoreTransaction) throws -> RecordedEvent {
        guard event.claims.count <= NewEvent.maximumClaims,
            [event.hook, event.event, event.deliveryID ?? ""].allSatisfy({ $0.utf8.count <= NewEvent.maximumNameBytes })
        else {
            throw Refusal(
                code: .tooLarge,
                message: "it names more than \(NewEvent.maximumClaims) refs or has a name over "
                    + "\(NewEvent.maximumNameBytes) bytes; push fewer refs at once")
        }
        let db = transaction.db
        if let id = event.deliveryID,
            let stored = try db.row(
                deliveryQuery + " WHERE hook = ? AND delivery_id = ?", [event.hook, id])
        {
            let record = try delivery(stored, db)
            return try stored["body_digest"] == event.bodyDigest ? .duplicate(of: record) : .conflict(with: record)
        }
        let repository = try event.repository.map { try repositoryRow($0, db) }
        var (outcome, reason) = (event.outcome, event.reason)
        var request: Int64?
        if outcome == .pending {
            if let url = event.repository {
                request = try requestScan(url, transaction)
            } else {
                // No scan will ever find it, so it must not wait.
                (outcome, reason) = (.ignored, "no bot has this repository")
            }
        }
        try db.change(
            """
            INSERT INTO deliveries (hook, delivery_id, body_digest, repository, bot, source, event, received_at,
                claims, fate, reason, request, pull_request) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                event.hook, event.deliveryID, event.bodyDigest, repository, event.bot?.description,
                event.source.rawValue, event.event, event.receivedAt.millisecondsSinceEpoch,
                try jsonText(event.claims), outcome.rawValue, reason?.kept, request, event.pull?.number,
            ])
        let rowID = db.lastInsertedRowID
        if outcome == .pending, let repository, let pull = event.pull {
            try note(pull, of: repository, at: event.receivedAt, db)
        }
        // An event that requests no scan, such as a star, does not show that pushes arrive.
        if event.source == .webhook, outcome == .pending, let repository {
            try db.change(
                "UPDATE repositories SET has_authentic_webhook = 1 WHERE id = ? AND has_authentic_webhook = 0",
                [repository])
        }
        transaction.changed(.delivery(rowID: rowID))
        transaction.passes("delivery.stored")
        return .stored(try delivery(rowID: rowID, db))
    }

    /// Requests a scan of a repository without storing an event: for the poller's timer, or a user's button.
    /// - Parameter event: An event that is stored elsewhere. Its claim about a pull request of the repository is stored.
    package func requestScan(
        at repository: String, telling event: NewEvent? = nil
    ) async throws(StoreError) {
        try await writer.write("request a scan of \(repository)") { transaction in
            let row = try Self.repositoryRow(repository, transaction.db)
            if let event, let pull = event.pull {
                try Self.note(pull, of: row, at: event.receivedAt, transaction.db)
            }
            try Self.requestScan(repository, transaction)
        }
    }

    /// Requests scans of several repositories in one transaction, for the poller's timer. A repository whose scan is already requested gets no newer
    /// request, so that its pause after a failure continues.
    package func requestScans(at repositories: [String]) async throws(StoreError) {
        try await writer.write("request scans of \(repositories.count) repositories") { transaction in
            for repository in repositories {
                let row = try Self.repositoryRow(repository, transaction.db)
                let isWanted: Bool? = try transaction.db.first(
                    "SELECT requested > looked FROM repositories WHERE id = ?", [row]
                ) { try $0[0] }
                if isWanted != true { try Self.requestScan(repository, transaction) }
            }
        }
    }

    /// Returns the repositories from which an authentic webhook has arrived.
    package func hookedRepositories() async throws(StoreError) -> Set<String> {
        try await read("read which repositories have webhooks") { db in
            Set(try db.values("SELECT url FROM repositories WHERE has_authentic_webhook = 1") as [String])
        }
    }

    /// Returns the requested scans of repositories that a bot still has, by URL.
    package func repositoriesToScan() async throws(StoreError) -> [ScanRequest] {
        try await read("read which repositories to scan") { db in
            try db.rows(
                """
                SELECT url, requested, EXISTS
                    (SELECT 1 FROM deliveries WHERE repository = repositories.id AND fate = 'pending') AS has_event
                FROM repositories WHERE requested > looked
                AND EXISTS (SELECT 1 FROM bots WHERE repository = repositories.id AND is_retired = 0) ORDER BY url
                """
            ).map {
                ScanRequest(repository: try $0["url"], sequence: try $0["requested"], hasEvent: try $0["has_event"])
            }
        }
    }

    /// Requests a scan of a repository whose row exists.
    /// - Returns: The request's sequence.
    @discardableResult
    static func requestScan(_ url: String, _ transaction: StoreTransaction) throws -> Int64? {
        let sequence: Int64? = try transaction.db.first(
            "UPDATE repositories SET requested = requested + 1 WHERE url = ? RETURNING requested", [url]
        ) { try $0[0] }
        transaction.changed(.repository(url))
        return sequence
    }
}

/// Why an integration ended without judging the commit of its ref update.
enum Dismissal {
    case skipped, superseded

    /// The outcome of the update.
    var outcome: EventOutcome {
        switch self {
        case .skipped: .ignored
        case .superseded: .superseded
        }
    }

    /// The condition for integrations that were not dismissed for the same reason. The update stays integrated while it has one.
    fileprivate var others: String {
        switch self {
        case .skipped: "is_skipped = 0"
        case .superseded: "(superseded_by IS NULL OR verdict IS NOT 'canceled')"
        }
    }
}

extension Store {
    /// Sets the outcome of the ref update that caused an integration, and of the events that announced it, unless another bot integrates them.
    static func decide(
        _ dismissal: Dismissal, _ reason: String, of record: IntegrationRecord, _ transaction: StoreTransaction
    ) throws {
        let db = transaction.db
        let outcome = dismissal.outcome
        let update: Int64? = try db.value(
            """
            UPDATE ref_updates SET fate = ?1, reason = ?2
            WHERE id = (SELECT ref_update FROM integrations WHERE id = ?3) AND fate = 'integrated' AND NOT EXISTS
                (SELECT 1 FROM integrations WHERE ref_update = ref_updates.id AND \(dismissal.others))
            RETURNING id
            """, [outcome.rawValue, reason.kept, record.rowID])
        guard let update else { return }
        let deliveries: [Int64] = try db.values(
            """
            UPDATE deliveries SET fate = ?1, reason = ?2 WHERE fate = 'integrated'
            AND id IN (SELECT delivery FROM delivery_updates WHERE ref_update = ?3) AND NOT EXISTS
                (SELECT 1 FROM delivery_updates JOIN ref_updates ON ref_updates.id = ref_update
                 WHERE delivery = deliveries.id AND ref_updates.fate = 'integrated')
            RETURNING id
            """, [outcome.rawValue, reason.kept, update])
        for delivery in deliveries { transaction.changed(.delivery(rowID: delivery)) }
    }
}
