package import Model

/// An event that may have moved a ref, as transaction 1 stores it.
package struct NewEvent: Hashable, Sendable {
    /// The repository to scan; `nil` if the event names no repository of a bot.
    package var repository: String?
    /// The bot whose hook received the event, or that it is for.
    package var bot: Name?
    package var source: EventSource
    /// The hook's name, the first half of a delivery's key: `github/kit`, `push/kit`.
    package var hook: String
    /// The forge's id of the delivery, the second half of its key. `nil` if the forge sends none: then the event is never a duplicate.
    package var deliveryID: String?
    /// SHA-256 of the raw body, which detects one id with two bodies.
    package var bodyDigest: String?
    /// The forge's name of the event: `push`, `ping`.
    package var event: String
    package var receivedAt: Timestamp
    /// At most `maximumClaims`.
    package var claims: [RefClaim]
    /// The pull request that the event is about.
    package var pull: PullRequestClaim?
    /// `pending` requests a scan; any other outcome is final.
    package var fate: Fate
    package var reason: String?

    /// The most refs in one event. `git push --mirror` of a big repository sends that many. More are refused with `tooLarge`.
    package static let maximumClaims = 10_000
    /// The most bytes of the hook's name, the delivery id and the event's name, each.
    package static let maximumNameBytes = 1024
    /// The longest delivery id, in bytes.
    package static let maximumDeliveryBytes = 128

    /// Whether a text can be the id of a delivery: 1 to `maximumDeliveryBytes` visible ASCII characters.
    package static func isDeliveryID(_ text: String) -> Bool {
        (1...maximumDeliveryBytes).contains(text.utf8.count) && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
    }

    package init(
        repository: String?, bot: Name? = nil, source: EventSource, hook: String, deliveryID: String? = nil,
        bodyDigest: String? = nil, event: String, receivedAt: Timestamp, claims: [RefClaim] = [],
        pull: PullRequestClaim? = nil, fate: Fate = .pending, reason: String? = nil
    ) {
        self.repository = repository
        self.bot = bot
        self.source = source
        self.hook = hook
        self.deliveryID = deliveryID
        self.bodyDigest = bodyDigest
        self.event = event
        self.receivedAt = receivedAt
        self.claims = claims
        self.pull = pull
        self.fate = fate
        self.reason = reason
    }
}
