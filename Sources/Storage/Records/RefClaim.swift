package import Model

/// What an event says of a ref. It is a claim: only a look at the repository makes a ref update.
package struct RefClaim: Hashable, Sendable, Codable {
    package var ref: RefName
    /// Nothing when the ref is said to be created.
    package var before: CommitID?
    /// Nothing when the ref is said to be deleted.
    package var after: CommitID?

    /// - Parameters before, after: Git's all-zero id means "no commit" and is stored as nothing.
    package init(ref: RefName, before: CommitID?, after: CommitID?) {
        self.ref = ref
        self.before = before.flatMap { $0.isZero ? nil : $0 }
        self.after = after.flatMap { $0.isZero ? nil : $0 }
    }
}
