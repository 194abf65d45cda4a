import CLibGit2
package import Model

extension Mirror {
    /// Merges a commit into another, in the mirror alone: no ref is touched; `hold` keeps what was made.
    /// - Returns: The merge, or why there is none.
    /// - Throws: `commitMissing` when one of the two is not here; `mirrorDamaged`.
    package func merge(_ head: CommitID, into base: CommitID) async throws(SourceControlError) -> MergeOutcome {
        try await merge(head, into: base, limits: MergeSurvey.Limits())
    }

    /// - Parameter limits: Above which nothing is merged.
    func merge(
        _ head: CommitID, into base: CommitID, limits: MergeSurvey.Limits
    ) async throws(SourceControlError) -> MergeOutcome {
        try await local { repository throws(SourceControlError) in
            let operation = "merging \(head.abbreviated) into \(base.abbreviated)"
            return try MergeWriter(reading: CommitReading(repository: repository, operation: operation), limits: limits)
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
            var isOther = false
            let difference = TreeDifference(reading: reading, limit: MergeSurvey.Limits().entries)
            let isAll = try difference.walk(from: CommitReading.id(of: before), to: CommitReading.id(of: after)) {
                path, old, new throws(SourceControlError) in
                if path.elementsEqual(".gitmodules".utf8) { isOther = true }
                for entry in [old, new] where UInt32(entry?.mode ?? 0) == GIT_FILEMODE_COMMIT.rawValue {
                    isOther = true
                }
            }
            guard isAll || isOther else {
                throw SourceControlError(
                    code: .tooLarge, operation: operation,
                    message: "more than \(difference.limit) files and directories differ")
            }
            return isOther
        }
    }
}
