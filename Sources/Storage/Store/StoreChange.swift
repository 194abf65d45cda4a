package import Model

/// A kind of committed change, published after the commit. Live events of pages and the scheduler react to it.
package enum StoreChange: Hashable, Sendable {
    /// Bots were registered, changed or retired.
    case bots
    /// A scan of a repository was requested or has ended.
    case repository(String)
    /// An event was stored or its outcome was decided.
    case delivery(rowID: Int64)
    /// A new integration was queued.
    case queued(IntegrationID)
    /// An existing integration, one of its attempts or one of its triggers has changed.
    case integration(IntegrationID)
    /// An integration has ended a run; it is published after its `integration`.
    case completed(IntegrationID)
    /// A silence of this bot, which its integrations show, was added or removed.
    case silences(bot: Name)
    /// A version of this product was reserved, published, abandoned or yanked.
    case version(product: Name)
    /// An outgoing message was stored or its state has changed.
    case outbox
    /// A token was revoked.
    case tokens
}

extension StoreChange {
    /// Whether it may change the published versions, or which product publishes one.
    package var isOfPublishing: Bool {
        switch self {
        case .bots, .version: true
        case .repository, .delivery, .queued, .integration, .completed, .silences, .outbox, .tokens: false
        }
    }

    /// Whether it may reduce the access of a client.
    package var isOfAccess: Bool { self == .tokens || self == .bots }
}
