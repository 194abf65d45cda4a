import GRDB
import Model

extension Store {
    /// Runs transaction 1: stores an event and, if its outcome is pending, a request to scan its repository.
    /// - Returns: `duplicate` or `conflict` if the hook's delivery id was stored before; then no row is changed.
    /// - Throws: `tooLarge` for more claims or longer names than `NewEvent` allows.
    package func record(_ event: NewEvent) async throws(StoreError) -> RecordedEvent {
        try await lane.write("store the event \(event.event.kept(80)) of \(event.hook.kept(80))") { transaction in
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
        var (fate, reason) = (event.fate, event.reason)
        var request: Int64?
        if fate == .pending {
            if let url = event.repository {
                request = try requestLook(url, transaction)
            } else {
                // No scan will ever find it, so it must not wait.
                (fate, reason) = (.ignored, "no bot has this repository")
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
                try jsonText(event.claims), fate.rawValue, reason?.kept, request, event.pull?.number,
            ])
        let rowID = db.lastInsertedRowID
        if fate == .pending, let repository, let pull = event.pull {
            try note(pull, of: repository, at: event.receivedAt, db)
        }
        // An event that requests no scan, such as a star, does not show that pushes arrive.
        if event.source == .webhook, fate == .pending, let repository {
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
    package func requestLook(
        at repository: String, telling event: NewEvent? = nil
    ) async throws(StoreError) {
        try await lane.write("request a look at \(repository)") { transaction in
            let row = try Self.repositoryRow(repository, transaction.db)
            if let event, let pull = event.pull {
                try Self.note(pull, of: row, at: event.receivedAt, transaction.db)
            }
            try Self.requestLook(repository, transaction)
        }
    }

    /// Requests scans of several repositories in one transaction, for the poller's timer. A repository whose scan is already requested gets no newer
    /// request, so that its pause after a failure continues.
    package func requestLooks(at repositories: [String]) async throws(StoreError) {
        try await lane.write("request looks at \(repositories.count) repositories") { transaction in
            for repository in repositories {
                let row = try Self.repositoryRow(repository, transaction.db)
                let isWanted: Bool? = try transaction.db.first(
                    "SELECT requested > looked FROM repositories WHERE id = ?", [row]
                ) { try $0[0] }
                if isWanted != true { try Self.requestLook(repository, transaction) }
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
    package func repositoriesToLook() async throws(StoreError) -> [LookRequest] {
        try await read("read which repositories to look at") { db in
            try db.rows(
                """
                SELECT url, requested, EXISTS
                    (SELECT 1 FROM deliveries WHERE repository = repositories.id AND fate = 'pending') AS has_event
                FROM repositories WHERE requested > looked
                AND EXISTS (SELECT 1 FROM bots WHERE repository = repositories.id AND is_retired = 0) ORDER BY url
                """
            ).map {
                LookRequest(repository: try $0["url"], sequence: try $0["requested"], hasEvent: try $0["has_event"])
            }
        }
    }

    /// Requests a scan of a repository whose row exists.
    /// - Returns: The request's sequence.
    @discardableResult
    static func requestLook(_ url: String, _ transaction: StoreTransaction) throws -> Int64? {
        let sequence: Int64? = try transaction.db.first(
            "UPDATE repositories SET requested = requested + 1 WHERE url = ? RETURNING requested", [url]
        ) { try $0[0] }
        transaction.changed(.repository(url))
        return sequence
    }
}
