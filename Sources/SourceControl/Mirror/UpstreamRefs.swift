package import Model

/// The server's branches that a job's `.git` contains as `refs/remotes/origin/…`, in addition to its own ref and the tags.
package struct UpstreamRefs: Sendable, Hashable {
    /// The branches, each with its commit. A branch whose commit is not in the mirror is left out.
    package var branches: [RefName: CommitID]
    /// The target of `origin/HEAD`; `nil` if it is not one of them.
    package var defaultBranch: RefName?

    package init(branches: [RefName: CommitID] = [:], defaultBranch: RefName? = nil) {
        self.branches = branches
        self.defaultBranch = defaultBranch
    }
}
