package import Storage

/// The contents of an authentic delivery. All of it is a claim: the bots' files decide which repository is scanned, and the scan finds what moved.
package struct ForgeEvent: Sendable, Equatable {
    enum Kind: Sendable, Hashable {
        /// One or more refs moved; some of them may have been created or deleted.
        case push
        /// One branch or tag was created or deleted.
        case created, deleted
        case pullRequest(PullRequestChange)
        /// The forge tests the hook.
        case ping
        /// The event moves no ref, for the stated reason.
        case ignored(String)
    }

    enum PullRequestChange: String, Sendable, Hashable {
        /// `updated` means new commits, or another target, title or text.
        case opened, updated, reopened, closed
    }

    var kind: Kind
    /// The refs that are said to have moved. Empty if the forge does not say which.
    package var claims: [RefClaim] = []
    /// The pull request that the event is about. `nil` if the event does not name the pull request and its target branch.
    package var pull: PullRequestClaim?
    /// The forge's name of the event, cut to `maximumWordBytes`.
    package var word: String
    package var repository: NamedRepository

    static let maximumWordBytes = 100

    /// Whether the repository is to be scanned.
    package var asksForScan: Bool {
        switch kind {
        case .push, .created, .deleted, .pullRequest: true
        case .ping, .ignored: false
        }
    }

    /// The reason why the repository is not scanned, or the change to a pull request that causes the scan. `nil` for other events.
    package var reason: String? {
        switch kind {
        case .push, .created, .deleted: nil
        case .pullRequest(let change): "pull request \(change.rawValue)"
        case .ping: "the forge tried the hook: it is connected"
        case .ignored(let reason): reason
        }
    }

    /// Returns an event that moved refs; the claims determine its kind.
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
    /// The claim about the head of the pull request, for the ledger; empty if the event is not about one.
    package var pullClaims: [RefClaim] {
        pull.map { pull in
            [pull.head.map { RefClaim(ref: pull.ref, before: nil, after: $0) } ?? .head(of: pull.ref)]
        } ?? []
    }
}
