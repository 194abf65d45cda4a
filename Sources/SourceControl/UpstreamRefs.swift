package import Model

/// Branches of the server that a job's `.git` has as `refs/remotes/origin/…`, beside its own ref and the tags.
package struct UpstreamRefs: Sendable, Hashable {
    /// Branches, each by its commit. One whose commit is not in the mirror is left out.
    package var branches: [RefName: CommitID]
    /// What `origin/HEAD` names, where it is one of them.
    package var defaultBranch: RefName?

    package init(branches: [RefName: CommitID] = [:], defaultBranch: RefName? = nil) {
        self.branches = branches
        self.defaultBranch = defaultBranch
    }
}
