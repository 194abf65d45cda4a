/// A person's session in a browser, without its secret.
package struct Session: Codable, Hashable, Sendable {
    /// Its number, which is never given twice.
    package var id: Int64
    /// The person's name: the token's name, or the name that the provider states.
    package var person: String
    /// `viewer`, `operator` or `admin`: the role on every bot and the service as a whole; `nil` if there is none.
    package var role: String?
    /// The token that opened it; `nil` if a provider did.
    package var token: String?
    /// The OpenID Connect provider that opened it; `nil` if a token did.
    package var provider: String?
    /// When it was opened.
    package var created: Time
    /// When it was last used, up to an hour late. It ends 30 days after that.
    package var used: Time
    /// The roles that are limited to bots; empty if there are none.
    package var limited: [LimitedRole]

    /// Creates a value from all its properties.
    package init(
        id: Int64, person: String, role: String?, token: String?, provider: String?, created: Time, used: Time,
        limited: [LimitedRole]
    ) {
        self.limited = limited
        (self.id, self.person, self.role, self.token, self.provider) = (id, person, role, token, provider)
        (self.created, self.used) = (created, used)
    }
}

/// A role on some bots.
package struct LimitedRole: Codable, Hashable, Sendable {
    /// `viewer`, `operator` or `admin`.
    package var role: String
    /// The names and patterns of the bots.
    package var bots: [String]

    /// Creates a value from all its properties.
    package init(role: String, bots: [String]) { (self.role, self.bots) = (role, bots) }
}
