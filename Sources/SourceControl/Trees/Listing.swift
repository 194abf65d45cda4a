package import Model

/// The refs of a repository at one moment, according to its server.
package struct Listing: Sendable, Hashable {
    /// Branches and tags whose names are UTF-8. For an annotated tag, the value is the object that it points to. A server does not state whether that
    /// is a commit; if it is a blob or a tree, the fetch detects that.
    package let heads: [RefName: CommitID]
    /// The further refs that were requested by name and exist, such as a pull request's head.
    package let others: [RefName: CommitID]
    /// The branch that HEAD names, if it exists. Otherwise the only branch, if there is exactly one; `nil` otherwise.
    package let defaultBranch: RefName?

    package init(heads: [RefName: CommitID], others: [RefName: CommitID] = [:], defaultBranch: RefName?) {
        self.heads = heads
        self.others = others
        self.defaultBranch = defaultBranch ?? Self.onlyBranch(of: heads)
    }

    /// Returns the only branch; `nil` if there are more or none. After `git init --bare`, HEAD may name a branch that is never pushed, and a clone's
    /// HEAD may be detached.
    private static func onlyBranch(of heads: [RefName: CommitID]) -> RefName? {
        var only: RefName?
        for ref in heads.keys where ref.branch != nil {
            guard only == nil else { return nil }
            only = ref
        }
        return only
    }
}
