import GRDB
package import Model

/// An access token. Only its hash is stored, and that is never read out.
package struct TokenRecord: Hashable, Sendable {
    package var name: String
    package var role: Role
    /// The bots that the role is limited to; `nil`: every bot, and the service as a whole.
    package var bots: BotScope?
    package var createdAt: Timestamp
    package var revokedAt: Timestamp?

    package init(
        name: String, role: Role, bots: BotScope? = nil, createdAt: Timestamp, revokedAt: Timestamp? = nil
    ) {
        self.name = name
        self.role = role
        self.bots = bots
        self.createdAt = createdAt
        self.revokedAt = revokedAt
    }
}

extension Store {
    /// The longest name of a token, in bytes.
    package static let maximumTokenNameBytes = 128

    /// Stores a token's hash.
    /// - Throws: `exists` if a token of that name was ever created, even if it was revoked; `tooLarge` if the name is empty or too long.
    /// - Parameters:
    ///   - bots: The bots that the role is limited to; `nil`: every bot, and the service as a whole.
    ///   - audit: The row of the audit, which is stored with it.
    package func createToken(
        name: String, role: Role, bots: BotScope? = nil, hash: String, at time: Timestamp, audit: AuditEntry? = nil
    ) async throws(StoreError) {
        let operation = "create the token \(name.kept(80))"
        guard !name.isEmpty, name.utf8.count <= Self.maximumTokenNameBytes else {
            throw StoreError(
                code: .tooLarge, operation: operation,
                message: "a token's name has 1 to \(Self.maximumTokenNameBytes) bytes; choose another")
        }
        try await writer.write(operation) { transaction in
            try transaction.db.change(
                "INSERT OR IGNORE INTO tokens (name, role, bots, hash, created_at) VALUES (?, ?, ?, ?, ?)",
                [name, role.rawValue, try bots.map { try jsonText($0.texts) }, hash, time.millisecondsSinceEpoch])
            guard transaction.db.changesCount == 1 else {
                throw Refusal(code: .exists, message: "there was a token of that name before; choose another name")
            }
            if let audit { try Self.record(audit, at: time, transaction) }
        }
    }

    /// Returns the token with this hash, even if it is revoked; `nil` if there is none.
    package func token(hash: String) async throws(StoreError) -> TokenRecord? {
        try await read("look up a token") { db in
            try db.row("SELECT * FROM tokens WHERE hash = ?", [hash]).map(Self.token)
        }
    }

    /// Returns all tokens by name, including revoked ones.
    package func tokens() async throws(StoreError) -> [TokenRecord] {
        try await read("list the tokens") { db in
            try db.rows("SELECT * FROM tokens ORDER BY name").map(Self.token)
        }
    }

    /// Revokes a token, and ends the sessions that were opened with it.
    /// - Returns: Whether there was an unrevoked token of that name.
    package func revokeToken(
        name: String, at time: Timestamp, audit: AuditEntry? = nil
    ) async throws(StoreError) -> Bool {
        try await writer.write("revoke the token \(name.kept(80))") { transaction in
            try transaction.db.change(
                "UPDATE tokens SET revoked_at = ? WHERE name = ? AND revoked_at IS NULL",
                [time.millisecondsSinceEpoch, name])
            guard transaction.db.changesCount == 1 else { return false }
            try transaction.db.change("DELETE FROM sessions WHERE token = ?", [name])
            if let audit { try Self.record(audit, at: time, transaction) }
            transaction.changed(.tokens)
            return true
        }
    }

    /// Returns whether any token is not revoked.
    package func hasTokens() async throws(StoreError) -> Bool {
        try await read("find tokens") { db in
            try db.value("SELECT EXISTS (SELECT 1 FROM tokens WHERE revoked_at IS NULL)") ?? false
        }
    }

    /// Returns the scope in a column; `nil` if the column is NULL.
    /// - Throws: `corrupt` for a text that is not a scope, which must not become a role without a limit.
    static func scope(_ row: StoredRow, _ column: String) throws -> BotScope? {
        guard let texts = try row.json(column, as: [String].self) else { return nil }
        guard let scope = BotScope(texts) else {
            throw Refusal(code: .corrupt, message: "the column \(column) has no list of bots; restore a backup")
        }
        return scope
    }

    private static func token(_ row: StoredRow) throws -> TokenRecord {
        TokenRecord(
            name: try row["name"], role: try row.value("role") { Role(rawValue: $0) }, bots: try scope(row, "bots"),
            createdAt: try row.time("created_at"),
            revokedAt: try row.optionalTime("revoked_at"))
    }
}
