/// A row of the audit: what a person or the service did.
package struct AuditRow: Codable, Hashable, Sendable {
    /// Its number. Later rows have higher ones.
    package var id: Int64
    /// When it was done.
    package var at: Time
    /// What was done, such as `token-created`.
    package var action: String
    /// The person's name; `service` for what the service did by itself.
    package var actor: String
    /// The client's address; `nil` for the Unix socket and for the service itself.
    package var address: String?
    /// The bot; `nil` if it is about none.
    package var bot: String?
    /// The integration, token, secret, version or file.
    package var subject: String
    /// Further words, such as a token's role; `nil` if there are none.
    package var detail: String?

    /// Creates a value from all its properties.
    package init(
        id: Int64, at: Time, action: String, actor: String, address: String?, bot: String?, subject: String,
        detail: String?
    ) {
        (self.id, self.at, self.action, self.actor, self.address) = (id, at, action, actor, address)
        (self.bot, self.subject, self.detail) = (bot, subject, detail)
    }
}
