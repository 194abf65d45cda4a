package import Model

/// Something that may have moved a ref, as it is stored in transaction 1.
package struct NewEvent: Hashable, Sendable {
    /// The repository to look at; nothing when the event names none that a bot has.
    package var repository: String?
    /// The bot whose hook it came through, or that it is for.
    package var bot: Name?
    package var source: EventSource
    /// The hook's name, the first half of a delivery's key: `github/kit`, `push/kit`.
    package var hook: String
    /// The forge's id of the delivery, the second half of its key; nothing where there is none: then it is never a
    /// duplicate.
    package var deliveryID: String?
    /// SHA-256 of the raw body, so that one id with two bodies is noticed.
    package var bodyDigest: String?
    /// The forge's word: `push`, `ping`.
    package var event: String
    package var receivedAt: Timestamp
    /// At most `maximumClaims`.
    package var claims: [RefClaim]
    /// The pull request that it tells of.
    package var pull: PullRequestClaim?
    /// `pending` asks for a look; any other fate is final.
    package var fate: Fate
    package var reason: String?

    /// Refs in one event. `git push --mirror` of a big repository sends that many; more is refused with `tooLarge`.
    package static let maximumClaims = 10_000
    /// Bytes of the hook's, the delivery's and the event's name each.
    package static let maximumNameBytes = 1024

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
