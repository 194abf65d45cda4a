package import Model

/// What an event says of a ref. It is a claim: only a look at the repository makes a ref update.
package struct RefClaim: Hashable, Sendable, Codable {
    package var ref: RefName
    /// Nothing when the ref is said to be created.
    package var before: CommitID?
    /// Nothing when the ref is said to be deleted.
    package var after: CommitID?
    /// Optional, so that claims stored without it are read.
    private var hasUnknownHead: Bool?

    /// The ref is said to be there, but not at which commit: GitHub's `create` does not tell.
    package var isHeadUnknown: Bool { hasUnknownHead ?? false }

    /// - Parameters before, after: Git's all-zero id means "no commit" and is stored as nothing.
    package init(ref: RefName, before: CommitID?, after: CommitID?) {
        self.ref = ref
        self.before = before.flatMap { $0.isZero ? nil : $0 }
        self.after = after.flatMap { $0.isZero ? nil : $0 }
    }

    /// A claim that a ref was created, at a commit that is not told.
    package static func head(of ref: RefName) -> RefClaim {
        var claim = RefClaim(ref: ref, before: nil, after: nil)
        claim.hasUnknownHead = true
        return claim
    }
}
