import Basics
package import Model

extension Mirror {
    /// Brings a workspace to a commit.
    ///
    /// Unchanged tracked files keep their times; untracked files are removed, unless the commit's own rules ignore them. The next checkout repairs
    /// an interrupted one. Links and directories that a job has planted are removed, never followed. Submodules that are not given become empty
    /// directories and are named in the report.
    ///
    /// Canceling the task interrupts it at the next file, or when its turn comes; emptying a workspace is not interrupted.
    /// - Parameters:
    ///   - ref: The ref that is checked out in the job's `.git`.
    ///   - workspace: The tree's absolute path, created when absent.
    ///   - state: The absolute path of a directory of ours, outside the workspace, that no other workspace uses.
    ///   - isClean: Empties the workspace first.
    ///   - kept: Names in the root that are treated as ignored: build directories of tools, even if the repository does not ignore them, so that an
    ///     incremental build stays incremental.
    ///   - submodules: The result of `Mirrors.submodules`; their files are written as the commit's own are.
    ///   - upstream: Further branches for the job's `.git`.
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
