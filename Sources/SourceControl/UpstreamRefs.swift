package import Model

/// Branches of the server that a job's `.git` has as `refs/remotes/origin/…`, beside its own ref and the tags.
package struct UpstreamRefs: Sendable, Hashable {
    /// Branches, each with its commit. A branch whose commit is not in the mirror is left out.
    package var branches: [RefName: CommitID]
    /// The target of `origin/HEAD`, if it is one of them.
    package var defaultBranch: RefName?

    package init(branches: [RefName: CommitID] = [:], defaultBranch: RefName? = nil) {
        self.branches = branches
        self.defaultBranch = defaultBranch
    }
}
