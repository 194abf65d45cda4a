package import Model

/// A signed `POST /webhooks/push/{bot}` as received. It is not trusted before the signature over the raw bytes is verified.
package struct PushRequest: Sendable {
    package var bot: Name
    /// The value of `X-Hub-Signature-256`: `sha256=` and 64 hexadecimal digits. `nil` without the header.
    package var signature: String?
    /// The value of `X-Martlet-Delivery`: the sender's own id of this delivery, the same when it is sent again. `nil` without the header.
    package var delivery: String?
    package var body: WebhookBody

    /// The largest body, in bytes. GitHub's payloads have up to 25 MB, and one limit applies to all senders.
    package static let maximumBodyBytes = 26 * 1024 * 1024
    /// The most ref updates in one push.
    package static let maximumUpdates = 10_000

    package init(bot: Name, signature: String?, delivery: String?, body: WebhookBody) {
        self.bot = bot
        self.signature = signature
        self.delivery = delivery
        self.body = body
    }
}
