import GRDB
package import Model

/// A silence of a bot, with the issue that it silences if that is still shown.
package struct SilencedIssue: Hashable, Sendable {
    package var fingerprint: String
    package var silence: Silence
    /// The issue in the newest completed integration of a branch that reports it; `nil` if none does.
    package var issue: Shown?

    /// An issue with the integration that reports it.
    package struct Shown: Hashable, Sendable {
        package var integration: IntegrationID
        package var ref: RefName
        package var finding: Finding
        package var isResolved: Bool
    }
}

extension Store {
    /// The most silences of a bot.
    package static let maximumSilences = 10_000
    /// How long an expired silence is stored, for the note at its issue.
    private static let expiredKept: Duration = .seconds(90 * 86_400)

    /// Mutes an issue of the bot from this integration on, in all branches and pull requests. A pull request's issues may come from a fork, so its
    /// integrations' silences apply only to that pull request. An earlier silence is replaced.
    ///
    /// It shows at once in this integration and in the newest of each branch, or of the pull request. Their verdicts and counts stay. Integrations
    /// compared from now on respect it.
    /// - Throws: `notFound` if the integration has no such issue, or it is resolved; `tooLarge` if the reason is empty or too long, or if the bot has
    ///   `maximumSilences`.
    package func silence(
        _ fingerprint: String, of id: IntegrationID, _ silence: Silence
    ) async throws(StoreError) {
        let operation = "silence an issue of \(id)"
        guard !silence.reason.isEmpty, silence.reason.utf8.count <= Silence.maximumReasonBytes else {
            throw StoreError(
                code: .tooLarge, operation: operation,
                message: "a reason has 1 to \(Silence.maximumReasonBytes) bytes; write another")
        }
        let shown = try await shownIntegrations(id)
        try await writer.write(operation) { transaction in
            let db = transaction.db
            let row = try Self.integrationRow(id, db)
            let (bot, number) = try Self.place(row, db)
            try Self.requireIssue(fingerprint, row: row, db)
            let forgotten = silence.at.millisecondsSinceEpoch - Self.expiredKept.components.seconds * 1000
            let table = number == nil ? "silences" : "pull_silences"
            try db.change("DELETE FROM \(table) WHERE bot = ? AND expires < ?", [bot, forgotten])
            let count: Int =
                try db.first(
                    "SELECT count(*) FROM \(table) WHERE bot = ? AND fingerprint <> ?", [bot, fingerprint]
                ) { try $0[0] } ?? 0
            guard count < Self.maximumSilences else {
                throw Refusal(
                    code: .tooLarge,
                    message: "\(id.bot) has \(count) muted issues already; unmute some, or correct their rules")
            }
            let values: StatementArguments = [
                bot, fingerprint, silence.reason, silence.person.kept, silence.at.millisecondsSinceEpoch,
                silence.expires?.millisecondsSinceEpoch,
            ]
            if let number {
                try db.change(
                    """
                    INSERT OR REPLACE INTO pull_silences (bot, fingerprint, reason, person, at, expires, number)
                    VALUES (?, ?, ?, ?, ?, ?, ?)
                    """, values + [number])
            } else {
                try db.change(
                    """
                    INSERT OR REPLACE INTO silences (bot, fingerprint, reason, person, at, expires)
                    VALUES (?, ?, ?, ?, ?, ?)
                    """, values)
            }
            try Self.show(
                "UPDATE issues SET status = 'silenced', silence = ?3 WHERE status <> 'resolved'", fingerprint,
                in: shown,
                try jsonText(silence), db)
            transaction.changed(.integration(id))
            transaction.changed(.silences(bot: id.bot))
        }
    }

    /// Removes a silence: that of the bot's branches, or, for a pull request's integration, that of the pull request.
    /// - Returns: Whether there was one.
    /// - Throws: `notFound` if the integration does not exist.
    package func unsilence(_ fingerprint: String, of id: IntegrationID) async throws(StoreError) -> Bool {
        let shown = try await shownIntegrations(id)
        return try await writer.write("take back a silence of \(id)") { transaction in
            let db = transaction.db
            let row = try Self.integrationRow(id, db)
            let (bot, number) = try Self.place(row, db)
            if let number {
                try db.change(
                    "DELETE FROM pull_silences WHERE bot = ? AND number = ? AND fingerprint = ?",
                    [bot, number, fingerprint])
            } else {
                try db.change("DELETE FROM silences WHERE bot = ? AND fingerprint = ?", [bot, fingerprint])
            }
            guard db.changesCount > 0 else { return false }
            try Self.show(
                """
                UPDATE issues SET status = CASE WHEN status <> 'silenced' THEN status WHEN age = 1 THEN 'new'
                    ELSE 'unresolved' END, silence = ?3 WHERE true
                """, fingerprint, in: shown, nil, db)
            transaction.changed(.integration(id))
            transaction.changed(.silences(bot: id.bot))
            return true
        }
    }

    /// Returns the silences of a bot's branches by fingerprint, including recently expired ones.
    package func silences(of bot: Name) async throws(StoreError) -> [String: Silence] {
        try await read("read the muted issues of \(bot)") { db in try Self.silences(of: bot, db) }
    }

    /// Returns the silences that apply to an integration: its bot's and its pull request's. If both have one for an issue, the pull request's is
    /// used.
    package func silences(for id: IntegrationID) async throws(StoreError) -> [String: Silence] {
        try await read("read the muted issues of \(id)") { db in
            let own = try db.all(
                """
                SELECT pull_silences.* FROM pull_silences JOIN integrations ON integrations.bot = pull_silences.bot
                    AND pull_request = pull_silences.number JOIN bots ON bots.id = integrations.bot
                WHERE name = ? AND integrations.number = ?
                """, [id.bot.description, id.number], Self.silence)
            return try Self.silences(of: id.bot, db).merging(own) { $1 }
        }
    }

    private static func silences(of bot: Name, _ db: Database) throws -> [String: Silence] {
        Dictionary(
            try db.all(
                "SELECT silences.* FROM silences JOIN bots ON bots.id = bot WHERE bots.name = ?", [bot.description],
                silence)
        ) { $1 }
    }

    private static func silence(_ row: StoredRow) throws -> (String, Silence) {
        (
            try row["fingerprint"],
            Silence(
                reason: try row["reason"], person: try row["person"], at: try row.time("at"),
                expires: try row.optionalTime("expires"))
        )
    }

    /// Returns the bot's row, and the pull request's number; `nil` if the integration belongs to a branch or a tag.
    private static func place(_ row: Int64, _ db: Database) throws -> (bot: Int64, number: Int?) {
        let place = try db.first("SELECT bot, pull_request FROM integrations WHERE id = ?", [row]) {
            (bot: try $0["bot"] as Int64, number: try $0["pull_request"] as Int?)
        }
        guard let place else { throw Refusal.notFound("integration row \(row)") }
        return place
    }

    private static func requireIssue(_ fingerprint: String, row: Int64, _ db: Database) throws {
        let isThere: Bool =
            try db.first(
                """
                SELECT EXISTS (SELECT 1 FROM issues JOIN integrations ON integrations.id = integration
                    AND integrations.issue_set = issues.issue_set
                    WHERE integration = ? AND fingerprint = ? AND status <> 'resolved')
                """, [row, fingerprint]
            ) { try $0[0] } ?? false
        guard isThere else {
            throw Refusal(
                code: .notFound, message: "it has no issue \(fingerprint.kept(80)) that is still there; list its issues"
            )
        }
    }

    /// Returns the rows, as JSON, of the integrations that show an issue: this one, and the newest of each branch of its bot, or of its pull request.
    /// They are read outside the writer, because the query visits all integrations of the bot. An integration that ends meanwhile uses the silences
    /// it has read.
    private func shownIntegrations(_ id: IntegrationID) async throws(StoreError) -> String {
        try await read("read the newest integrations of \(id.bot)") { db in
            let rows: [Int64] = try db.all(
                """
                SELECT id FROM integrations WHERE (bot, number) = ((SELECT id FROM bots WHERE name = ?1), ?2)
                UNION SELECT id FROM integrations WHERE (bot, ref, number) IN (
                    SELECT bot, ref, max(number) FROM integrations
                    WHERE bot = (SELECT id FROM bots WHERE name = ?1) AND state = 'completed' AND pull_request IS
                        (SELECT pull_request FROM integrations JOIN bots ON bots.id = bot WHERE name = ?1 AND number = ?2)
                    GROUP BY bot, ref)
                """, [id.bot.description, id.number]
            ) { try $0[0] }
            return try jsonText(rows)
        }
    }

    /// Changes the rows of an issue in several integrations.
    /// - Parameter integrations: The integrations' rows, as a JSON array.
    private static func show(
        _ change: String, _ fingerprint: String, in integrations: String, _ silence: String?, _ db: Database
    ) throws {
        try db.change(
            change + " AND fingerprint = ?2 AND integration IN (SELECT value FROM json_each(?1))",
            [integrations, fingerprint, silence])
    }
}

extension Store {
    /// The most branches whose newest integrations are searched for muted issues, newest first.
    private static let lookedBranches = 200

    /// Returns a bot's silences, newest first, including recently expired ones.
    package func silencedIssues(of bot: Name) async throws(StoreError) -> [SilencedIssue] {
        let silences = try await silences(of: bot)
        guard !silences.isEmpty else { return [] }
        let shown = try await read("read the muted issues of \(bot)") { db in
            let found: [(fingerprint: String, shown: SilencedIssue.Shown)] = try db.all(
                """
                SELECT issues.*, number, ref FROM issues JOIN integrations ON integrations.id = integration
                    AND integrations.issue_set = issues.issue_set
                WHERE integration IN (
                    SELECT id FROM integrations WHERE (bot, ref, number) IN (
                        SELECT bot, ref, max(number) FROM integrations
                        WHERE bot = (SELECT id FROM bots WHERE name = ?1) AND state = 'completed'
                            AND pull_request IS NULL AND removed_at IS NULL GROUP BY bot, ref
                        ORDER BY max(number) DESC LIMIT \(Self.lookedBranches)))
                AND fingerprint IN (SELECT fingerprint FROM silences WHERE bot = (SELECT id FROM bots WHERE name = ?1))
                ORDER BY status = 'resolved', number DESC
                """, [bot.description]
            ) { row in
                (
                    try row["fingerprint"],
                    SilencedIssue.Shown(
                        integration: IntegrationID(bot: bot, number: try row["number"]), ref: try row.ref("ref"),
                        finding: try Self.finding(row), isResolved: try row["status"] as String == "resolved")
                )
            }
            return Dictionary(found.map { ($0.fingerprint, $0.shown) }) { first, _ in first }
        }
        return silences.map { SilencedIssue(fingerprint: $0.key, silence: $0.value, issue: shown[$0.key]) }
            .sorted { ($1.silence.at, $0.fingerprint) < ($0.silence.at, $1.fingerprint) }
    }
}
