package import Model

/// What a repository's server says of its refs at one moment.
package struct Listing: Sendable, Hashable {
    /// Branches and tags whose names are UTF-8. An annotated tag stands for what it points to. A server does not say whether that is
    /// a commit: one of a blob or a tree is found out by the fetch.
    package let heads: [RefName: CommitID]
    /// Of the further refs that were asked for by name, such as a pull request's head, those that are listed.
    package let others: [RefName: CommitID]
    /// The branch that HEAD names, if it exists; else the only branch, if there is just one.
    package let defaultBranch: RefName?

    package init(heads: [RefName: CommitID], others: [RefName: CommitID] = [:], defaultBranch: RefName?) {
        self.heads = heads
        self.others = others
        self.defaultBranch = defaultBranch ?? Self.onlyBranch(of: heads)
    }

    /// `git init --bare` lets HEAD name a branch that may never be pushed, and a clone's HEAD may be detached.
    private static func onlyBranch(of heads: [RefName: CommitID]) -> RefName? {
        var only: RefName?
        for ref in heads.keys where ref.branch != nil {
            guard only == nil else { return nil }
            only = ref
        }
        return only
    }
}
