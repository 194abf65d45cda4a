/// An access token, without its secret.
package struct Token: Codable, Hashable, Sendable {
    /// The name.
    package var name: String
    /// `viewer`, `operator` or `admin`.
    package var role: String
    /// The names and patterns of the bots that the role is limited to; `nil`: every bot, and the service as a whole.
    package var bots: [String]?
    /// When it was made.
    package var created: Time
    /// When it was revoked; `nil` if it was not.
    package var revoked: Time?

    /// Creates a value from all its properties.
    package init(name: String, role: String, bots: [String]?, created: Time, revoked: Time?) {
        self.name = name
        self.role = role
        self.bots = bots
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
    /// The names and patterns of the bots that the role is limited to; `nil`: every bot, and the service as a whole.
    package var bots: [String]?
    /// The secret to send as `Authorization: Bearer`.
    package var secret: String

    /// Creates a value from all its properties.
    package init(name: String, role: String, bots: [String]?, secret: String) {
        self.name = name
        self.role = role
        self.bots = bots
        self.secret = secret
    }
}

/// The body of a request for a token.
package struct TokenRequest: Codable, Hashable, Sendable {
    /// The name: 1 to 64 of a–z, 0–9, `.`, `_` and `-`, beginning with a letter or digit.
    package var name: String
    /// `viewer`, `operator` or `admin`.
    package var role: String
    /// The bots that the role is limited to: 1 to 64 names, or patterns with `*` and `?`; `nil`: every bot, and the service as a whole.
    package var bots: [String]?

    /// Creates a value from all its properties.
    package init(name: String, role: String, bots: [String]? = nil) {
        self.name = name
        self.role = role
        self.bots = bots
    }
}

/// The body of a node's request for the secrets of the job that it runs.
package struct SecretsRequest: Codable, Hashable, Sendable {
    /// The one-time token of the attempt.
    package var token: String
    /// Random text that the asking process made: 16 to 128 letters and digits. With the same text it may ask again until the job starts.
    package var use: String

    /// Creates a value from all its properties.
    package init(token: String, use: String) { (self.token, self.use) = (token, use) }
}

/// The secrets of a job, for the node that runs it.
package struct JobSecrets: Codable, Hashable, Sendable {
    /// The secrets.
    package var items: [JobSecretValue]

    /// Creates a value from all its properties.
    package init(items: [JobSecretValue]) { self.items = items }
}

/// A secret of a job.
package struct JobSecretValue: Codable, Hashable, Sendable {
    /// The environment variable.
    package var variable: String
    /// The value.
    package var value: String

    /// Creates a value from all its properties.
    package init(variable: String, value: String) { (self.variable, self.value) = (variable, value) }
}
