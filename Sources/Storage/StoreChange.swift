package import Model

/// What a commit changed, published after it: what the pages' live events and the scheduler wake up for.
package enum StoreChange: Hashable, Sendable {
    /// Bots were registered, changed or retired.
    case bots
    /// A repository is to be looked at, or a look at it ended.
    case repository(String)
    /// An event was stored or got its fate.
    case delivery(rowID: Int64)
    /// A new integration waits in the queue.
    case queued(IntegrationID)
    /// An integration that was there before, one of its attempts or one of its triggers.
    case integration(IntegrationID)
    /// An integration has come to the end of a run; told after its `integration`.
    case completed(IntegrationID)
    /// A silence of this bot was made or taken back, which its integrations show.
    case silences(bot: Name)
    /// A version of this product was reserved, published, abandoned or yanked.
    case version(product: Name)
    /// Something waits to be told outside, or was.
    case outbox
    /// A token was revoked.
    case tokens
}

extension StoreChange {
    /// Whether it changes what is published, or which product publishes it.
    package var isOfPublishing: Bool {
        switch self {
        case .bots, .version: true
        case .repository, .delivery, .queued, .integration, .completed, .silences, .outbox, .tokens: false
        }
    }

    /// Whether somebody may read less than before.
    package var isOfAccess: Bool { self == .tokens || self == .bots }
}
