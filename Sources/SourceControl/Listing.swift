package import Model

/// What a repository's server says of its refs at one moment.
package struct Listing: Sendable, Hashable {
    /// Branches and tags. An annotated tag stands for the commit it points to; tags of anything else are left out.
    package let heads: [RefName: CommitID]
    /// The branch that HEAD names, if it names one that exists.
    package let defaultBranch: RefName?

    package init(heads: [RefName: CommitID], defaultBranch: RefName?) {
        self.heads = heads
        self.defaultBranch = defaultBranch
    }
}
