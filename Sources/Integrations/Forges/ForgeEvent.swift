import Storage

/// What an authentic delivery says. All of it is a claim: which repository is looked at say the bots' files, what moved says the look.
struct ForgeEvent: Sendable, Equatable {
    enum Kind: Sendable, Hashable {
        /// Refs moved; also several of them, some of which were created or deleted.
        case push
        /// One branch or tag.
        case created, deleted
        case pullRequest(PullRequestChange)
        /// The forge tries the hook.
        case ping
        /// Nothing that moves a ref, and why.
        case ignored(String)
    }

    enum PullRequestChange: String, Sendable, Hashable {
        /// `updated`: other commits, or another target, title or text.
        case opened, updated, reopened, closed
    }

    var kind: Kind
    /// Empty where the forge says that something moved and not what.
    var claims: [RefClaim] = []
    /// The pull request that it tells of; nothing where it does not say which, into which branch.
    var pull: PullRequestClaim?
    /// The forge's word, cut to `maximumWordBytes`.
    var word: String
    var repository: NamedRepository

    static let maximumWordBytes = 100

    /// Whether the repository is to be looked at.
    var asksForLook: Bool {
        switch kind {
        case .push, .created, .deleted, .pullRequest: true
        case .ping, .ignored: false
        }
    }

    /// Why nothing is looked at, or for what.
    var reason: String? {
        switch kind {
        case .push, .created, .deleted: nil
        case .pullRequest(let change): "pull request \(change.rawValue)"
        case .ping: "the forge tried the hook: it is connected"
        case .ignored(let reason): reason
        }
    }

    /// An event that moved refs, by what it claims.
    static func moving(_ claims: [RefClaim], word: String, repository: NamedRepository) -> ForgeEvent {
        var kind = Kind.push
        if let claim = claims.first, claims.count == 1 {
            if claim.before == nil, claim.after != nil || claim.isHeadUnknown { kind = .created }
            if claim.after == nil, !claim.isHeadUnknown { kind = .deleted }
        }
        return ForgeEvent(kind: kind, claims: claims, word: word, repository: repository)
    }
}

extension ForgeEvent {
    /// What it says of the pull request's head, for the ledger.
    var pullClaims: [RefClaim] {
        pull.map { pull in
            [pull.head.map { RefClaim(ref: pull.ref, before: nil, after: $0) } ?? .head(of: pull.ref)]
        } ?? []
    }
}
