import CLibGit2
package import Model

extension Mirror {
    /// Merges a commit into another, in the mirror alone: no ref is touched; `hold` keeps what was made.
    /// - Returns: The merge, or why there is none.
    /// - Throws: `commitMissing` when one of the two is not here; `mirrorDamaged`.
    package func merge(_ head: CommitID, into base: CommitID) async throws(SourceControlError) -> MergeOutcome {
        try await local { repository throws(SourceControlError) in
            let operation = "merging \(head.abbreviated) into \(base.abbreviated)"
            return try MergeWriter(reading: CommitReading(repository: repository, operation: operation))
                .merge(head, into: base)
        }
    }

    /// Whether two commits differ in which submodules they have, where those are had, or at which commits they are.
    /// - Throws: `commitMissing`, `mirrorDamaged`.
    package func haveOtherSubmodules(_ old: CommitID, _ new: CommitID) async throws(SourceControlError) -> Bool {
        try await local { repository throws(SourceControlError) in
            let operation = "comparing the submodules of \(old.abbreviated) and \(new.abbreviated)"
            let reading = CommitReading(repository: repository, operation: operation)
            let before = try reading.rootTree(of: old)
            let after = try reading.rootTree(of: new)
            let (first, second) = (before.pointer, after.pointer)
            let difference = try GitHandle(operation, free: git_diff_free) {
                git_diff_tree_to_tree($0, repository, first, second, nil)
            }
            for index in 0..<git_diff_num_deltas(difference.pointer) {
                guard let delta = git_diff_get_delta(difference.pointer, index)?.pointee else { continue }
                for file in [delta.old_file, delta.new_file] {
                    if UInt32(file.mode) == GIT_FILEMODE_COMMIT.rawValue { return true }
                    if let path = file.path, String(cString: path) == ".gitmodules" { return true }
                }
            }
            return false
        }
    }
}
