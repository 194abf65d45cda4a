/// A person's session in a browser, without its secret.
package struct Session: Codable, Hashable, Sendable {
    /// Its number, which is never given twice.
    package var id: Int64
    /// The person's name: the token's name, or the name that the provider states.
    package var person: String
    /// `viewer`, `operator` or `admin`; `nil` if the settings give the person no role any more.
    package var role: String?
    /// The token that opened it; `nil` if a provider did.
    package var token: String?
    /// The OpenID Connect provider that opened it; `nil` if a token did.
    package var provider: String?
    /// When it was opened.
    package var created: Time
    /// When it was last used, up to an hour late. It ends 30 days after that.
    package var used: Time

    /// Creates a value from all its properties.
    package init(
        id: Int64, person: String, role: String?, token: String?, provider: String?, created: Time, used: Time
    ) {
        (self.id, self.person, self.role, self.token, self.provider) = (id, person, role, token, provider)
        (self.created, self.used) = (created, used)
    }
}
