import Basics
package import Model

extension Mirror {
    /// Brings a workspace to a commit.
    ///
    /// Tracked files that are unchanged keep their times; untracked files go, unless the commit's own rules ignore them. An
    /// interrupted checkout is repaired by the next. Links and directories that a job has planted are removed, never
    /// followed. Submodules that are not given become empty directories and are named in the report.
    ///
    /// Canceling the task interrupts it at the next file, or when its turn comes; the emptying of a workspace comes to its end.
    /// - Parameters:
    ///   - ref: What the job's `.git` says is checked out.
    ///   - workspace: The tree's absolute path, made when absent.
    ///   - state: The absolute path of a directory of ours, outside the workspace, that no other workspace uses.
    ///   - isClean: Empties the workspace first.
    ///   - kept: Names in the root that are treated as ignored: build directories of tools, also of a repository that
    ///     forgot to ignore them, so that an incremental build stays incremental.
    ///   - submodules: As `Mirrors.submodules` fetched them; their files are written as the commit's own are.
    ///   - upstream: Further branches that the job's `.git` has.
    ///   - acceptsPointers: Writes pointers of Git LFS as they are; else they are refused.
    /// - Throws: `commitMissing`, `treeRefused`, `tooLarge`, `mirrorDamaged`, `unsupported`, `file`, `canceled`.
    package func checkout(
        _ commit: CommitID, ref: RefName, into workspace: String, state: String, isClean: Bool = false,
        kept: [String] = [], submodules: [Submodule] = [], upstream: UpstreamRefs = UpstreamRefs(),
        acceptsPointers: Bool = false
    ) async throws(SourceControlError) -> CheckoutReport {
        let store = store
        return try await interruptible { repository, interruption throws(SourceControlError) in
            try Checkout(
                store: store, repository: repository, commit: commit, ref: ref, workspace: workspace, state: state,
                isClean: isClean, kept: Set(kept.map { Array($0.utf8) }), submodules: submodules, upstream: upstream,
                acceptsPointers: acceptsPointers, interruption: interruption
            ).run()
        }
    }

    /// Writes the tracked files of a commit into an empty or new directory, for the source archive: filtered as in a
    /// checkout, without `.git`, submodules as empty directories.
    ///
    /// Canceling the task interrupts it at the next file.
    /// - Throws: As `checkout`; `file` when the directory is not empty.
    package func export(_ commit: CommitID, into directory: String) async throws(SourceControlError) {
        try await interruptible { repository, interruption throws(SourceControlError) in
            let operation = "export of \(commit.abbreviated) into \(directory)"
            let reading = CommitReading(repository: repository, operation: operation)
            let listing = try TreeListing(of: commit, reading: reading, interruption: interruption)
            let target = try files(operation) { () throws(FileError) in try Directory(creating: directory) }
            let isEmpty = try files(operation) { () throws(FileError) in try target.entries().isEmpty }
            guard isEmpty else {
                throw SourceControlError(code: .file, operation: operation, message: "the directory is not empty")
            }
            var writer = TreeWriter(
                listing: listing, rules: TreeRules(of: listing, reading: reading, interruption: interruption),
                reading: reading, directory: target)
            for path in listing.order {
                try interruption.check(operation)
                guard let entry = listing.entries[path] else { continue }
                _ = try writer.write(try writer.content(of: path, entry), to: path, entry, isNew: true)
            }
        }
    }
}
