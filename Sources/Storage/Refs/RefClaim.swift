package import Model

/// An event's claim about a ref. Only a scan of the repository makes a ref update.
package struct RefClaim: Hashable, Sendable, Codable {
    package var ref: RefName
    /// The commit before the push; `nil` if the event says that the ref was created.
    package var before: CommitID?
    /// The commit after the push; `nil` if the event says that the ref was deleted.
    package var after: CommitID?
    /// It is optional, so that claims stored without it can be decoded.
    private var hasUnknownHead: Bool?

    /// Whether the event says that the ref exists, but not at which commit: GitHub's `create` event does not contain the commit.
    package var isHeadUnknown: Bool { hasUnknownHead ?? false }

    /// - Parameters before, after: Git's all-zero id means "no commit" and is stored as `nil`.
    package init(ref: RefName, before: CommitID?, after: CommitID?) {
        self.ref = ref
        self.before = before.flatMap { $0.isZero ? nil : $0 }
        self.after = after.flatMap { $0.isZero ? nil : $0 }
    }

    /// Returns a claim that a ref was created at an unknown commit.
    package static func head(of ref: RefName) -> RefClaim {
        var claim = RefClaim(ref: ref, before: nil, after: nil)
        claim.hasUnknownHead = true
        return claim
    }
}
