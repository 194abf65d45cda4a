/// An access token, without its secret.
package struct Token: Codable, Hashable, Sendable {
    /// The name.
    package var name: String
    /// `viewer`, `operator` or `admin`.
    package var role: String
    /// When it was made.
    package var created: Time
    /// When it was revoked; `nil` if it was not.
    package var revoked: Time?

    /// Creates a value from all its properties.
    package init(name: String, role: String, created: Time, revoked: Time?) {
        self.name = name
        self.role = role
        self.created = created
        self.revoked = revoked
    }
}

/// The answer that makes a token. No other answer has its secret.
package struct NewToken: Codable, Hashable, Sendable {
    /// The name.
    package var name: String
    /// `viewer`, `operator` or `admin`.
    package var role: String
    /// The secret to send as `Authorization: Bearer`.
    package var secret: String

    /// Creates a value from all its properties.
    package init(name: String, role: String, secret: String) {
        self.name = name
        self.role = role
        self.secret = secret
    }
}

/// The body of a request for a token.
package struct TokenRequest: Codable, Hashable, Sendable {
    /// The name: 1 to 64 of a–z, 0–9, `.`, `_` and `-`, beginning with a letter or digit.
    package var name: String
    /// `viewer`, `operator` or `admin`.
    package var role: String

    /// Creates a value from all its properties.
    package init(name: String, role: String) {
        self.name = name
        self.role = role
    }
}
