import GRDB
package import Model

/// A person's session in a browser. Only the hash of its cookie is stored, and that is never read out.
package struct SessionRecord: Hashable, Sendable {
    /// What a session was opened with.
    package enum Origin: Hashable, Sendable {
        /// A token, with the rights that it has.
        case token(name: String, rights: Rights)
        /// An OpenID Connect provider.
        case provider(ProviderStatement)
    }

    /// A number by which people name the session.
    package var id: Int64
    /// The person's name, 1 to `Store.maximumTokenNameBytes` bytes.
    package var person: String
    package var origin: Origin
    package var createdAt: Timestamp
    /// When it was last used, up to `Store.sessionUseInterval` late.
    package var usedAt: Timestamp
}

/// What a provider said about a person who signed in.
package struct ProviderStatement: Hashable, Sendable {
    /// The provider's issuer URL.
    package var issuer: String
    /// The mail address that the provider has verified; `nil` if there is none.
    package var mail: String?
    package var groups: [String]

    package init(issuer: String, mail: String?, groups: [String]) {
        (self.issuer, self.mail, self.groups) = (issuer, mail, groups)
    }
}

/// What a new session is opened with.
package enum NewSession: Sendable {
    /// A token of this name.
    case token(name: String)
    /// A person, as a provider named it.
    case provider(person: String, ProviderStatement)
}

extension Store {
    /// The time after which an unused session ends.
    package static let sessionLifetime: Duration = .seconds(30 * 86_400)
    /// How late the time of a session's last use may be. Each request would be a write otherwise.
    package static let sessionUseInterval: Duration = .seconds(3600)
    /// The most sessions of one person. A further one ends the one that was not used for longest.
    package static let maximumSessionsOfPerson = 50
    /// The most sessions together. A further one ends the one that was not used for longest.
    package static let maximumSessions = 10_000

    /// Stores a session, and removes those that have ended.
    /// - Parameters:
    ///   - hash: The SHA-256 of the cookie's secret: 64 hexadecimal digits.
    ///   - audit: The row of the audit, which is stored with it.
    /// - Throws: `notFound` if the token does not exist or was revoked; `tooLarge` for a name that is empty or too long.
    package func createSession(
        _ new: NewSession, hash: String, at time: Timestamp, audit: AuditEntry? = nil
    ) async throws(StoreError) {
        let (person, token, statement): (String, String?, ProviderStatement?) =
            switch new {
            case .token(let name): (name, name, nil)
            case .provider(let person, let statement): (person, nil, statement)
            }
        let operation = "open a session of \(person.kept(80))"
        guard !person.isEmpty, person.utf8.count <= Self.maximumTokenNameBytes else {
            throw StoreError(
                code: .tooLarge, operation: operation,
                message: "a person's name has 1 to \(Self.maximumTokenNameBytes) bytes")
        }
        let oldest = (time + (.zero - Self.sessionLifetime)).millisecondsSinceEpoch
        try await writer.write(operation) { transaction in
            let db = transaction.db
            let groups = try statement.map { try jsonText($0.groups) }
            if let token {
                let isValid: Bool? = try db.value(
                    "SELECT EXISTS (SELECT 1 FROM tokens WHERE name = ? AND revoked_at IS NULL)", [token])
                guard isValid == true else {
                    throw Refusal(code: .notFound, message: "there is no such token; sign in with another")
                }
            }
            try db.change("DELETE FROM sessions WHERE used_at < ?", [oldest])
            try db.change(
                """
                DELETE FROM sessions WHERE id IN (
                    SELECT id FROM sessions WHERE person = ? ORDER BY used_at DESC, id DESC LIMIT -1 OFFSET ?)
                """, [person, Self.maximumSessionsOfPerson - 1])
            try db.change(
                """
                DELETE FROM sessions WHERE id IN (
                    SELECT id FROM sessions ORDER BY used_at DESC, id DESC LIMIT -1 OFFSET ?)
                """, [Self.maximumSessions - 1])
            try db.change(
                """
                INSERT INTO sessions (hash, person, token, issuer, mail, groups, created_at, used_at)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                """,
                [
                    hash, person, token, statement?.issuer, statement?.mail, groups, time.millisecondsSinceEpoch,
                    time.millisecondsSinceEpoch,
                ])
            if let audit { try Self.record(audit, at: time, transaction) }
        }
    }

    /// Returns the session with this hash, if it has not ended; `nil` otherwise. Records the use.
    package func session(hash: String, at time: Timestamp) async throws(StoreError) -> SessionRecord? {
        guard let session = try await session(hash: hash), session.isAlive(at: time) else { return nil }
        if time - session.usedAt >= Self.sessionUseInterval {
            try await writer.write("record a session's use") { transaction in
                try transaction.db.change(
                    "UPDATE sessions SET used_at = ? WHERE hash = ?", [time.millisecondsSinceEpoch, hash])
            }
        }
        return session
    }

    private func session(hash: String) async throws(StoreError) -> SessionRecord? {
        try await read("look up a session") { db in
            try db.row("\(Self.sessionColumns) WHERE sessions.hash = ?", [hash]).map(Self.session)
        }
    }

    /// Returns the sessions that have not ended, the one that was used last first.
    /// - Parameter person: Only this person's sessions; `nil` for everybody's.
    package func sessions(of person: String? = nil, at time: Timestamp) async throws(StoreError) -> [SessionRecord] {
        try await read("list the sessions") { db in
            let rows =
                try person.map {
                    try db.rows("\(Self.sessionColumns) WHERE person = ? ORDER BY used_at DESC, id DESC", [$0])
                } ?? db.rows("\(Self.sessionColumns) ORDER BY used_at DESC, id DESC")
            return try rows.map(Self.session).filter { $0.isAlive(at: time) }
        }
    }

    /// Ends a session.
    /// - Parameter person: The person whose session it must be; `nil` for anybody's.
    /// - Returns: Whether there was such a session.
    package func endSession(_ id: Int64, of person: String? = nil) async throws(StoreError) -> Bool {
        try await writer.write("end session \(id)") { transaction in
            try transaction.db.change(
                "DELETE FROM sessions WHERE id = ? AND (? IS NULL OR person = ?)", [id, person, person])
            guard transaction.db.changesCount == 1 else { return false }
            transaction.changed(.tokens)
            return true
        }
    }

    /// Ends the session with this hash, if there is one.
    package func endSession(hash: String) async throws(StoreError) {
        try await writer.write("end a session") { transaction in
            try transaction.db.change("DELETE FROM sessions WHERE hash = ?", [hash])
            if transaction.db.changesCount == 1 { transaction.changed(.tokens) }
        }
    }

    private static let sessionColumns = """
        SELECT sessions.id AS id, person, token, issuer, mail, groups, sessions.created_at AS created_at, used_at,
            tokens.role AS role, tokens.bots AS bots, tokens.revoked_at AS revoked_at
        FROM sessions LEFT JOIN tokens ON tokens.name = sessions.token
        """

    private static func session(_ row: StoredRow) throws -> SessionRecord {
        let token: String? = try row["token"]
        let origin: SessionRecord.Origin
        if let token {
            let role = try row.value("role") { Role(rawValue: $0) }
            origin = .token(name: token, rights: Rights(role, on: try scope(row, "bots")))
        } else {
            let groups = try row.json("groups", as: [String].self) ?? []
            origin = .provider(ProviderStatement(issuer: try row["issuer"], mail: try row["mail"], groups: groups))
        }
        return SessionRecord(
            id: try row["id"], person: try row["person"], origin: origin, createdAt: try row.time("created_at"),
            usedAt: try row.time("used_at"))
    }
}

extension SessionRecord {
    /// Whether the session has not ended by itself. A session whose token was revoked is removed.
    fileprivate func isAlive(at time: Timestamp) -> Bool { time - usedAt < Store.sessionLifetime }
}
