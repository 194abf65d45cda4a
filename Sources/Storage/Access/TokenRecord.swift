package import Model

/// An access token. Only its hash is stored, and that is never read out.
package struct TokenRecord: Hashable, Sendable {
    package var name: String
    package var role: Role
    package var createdAt: Timestamp
    package var revokedAt: Timestamp?

    package init(name: String, role: Role, createdAt: Timestamp, revokedAt: Timestamp? = nil) {
        self.name = name
        self.role = role
        self.createdAt = createdAt
        self.revokedAt = revokedAt
    }
}
