import CLibGit2
package import Model

extension Mirror {
    /// The paths that differ between two commits, of any kind, renames as both names.
    package struct ChangedPaths: Sendable, Hashable {
        /// In the order of the trees; those that are not UTF-8 are repaired.
        package var paths: [String]
        /// Whether there are more than were asked for.
        package var isCut: Bool
    }

    /// - Parameter limit: At most so many paths.
    /// - Throws: `commitMissing` when one of the two is not here.
    package func changedPaths(
        from: CommitID, to: CommitID, limit: Int
    ) async throws(SourceControlError) -> ChangedPaths {
        try await local { repository throws(SourceControlError) in
            let reading = CommitReading(
                repository: repository, operation: "comparing \(from.abbreviated) with \(to.abbreviated)")
            let old = try reading.rootTree(of: from)
            let new = try reading.rootTree(of: to)
            var options = git_diff_options()
            git_diff_options_init(&options, UInt32(GIT_DIFF_OPTIONS_VERSION))
            options.flags = GIT_DIFF_SKIP_BINARY_CHECK.rawValue | GIT_DIFF_INCLUDE_TYPECHANGE.rawValue
            let (before, after) = (old.pointer, new.pointer)
            let diff = try GitHandle(reading.operation, free: git_diff_free) {
                git_diff_tree_to_tree($0, repository, before, after, &options)
            }
            let count = git_diff_num_deltas(diff.pointer)
            var paths: [String] = []
            for index in 0..<min(count, limit) {
                guard let delta = git_diff_get_delta(diff.pointer, index)?.pointee,
                    let path = delta.new_file.path ?? delta.old_file.path
                else { continue }
                paths.append(String(cString: path))
            }
            return ChangedPaths(paths: paths, isCut: count > limit)
        }
    }

    /// The newest commit that leads to both; nothing when none does.
    /// - Throws: `commitMissing` when one of the two is not here.
    package func mergeBase(_ one: CommitID, _ other: CommitID) async throws(SourceControlError) -> CommitID? {
        try await local { repository throws(SourceControlError) in
            let reading = CommitReading(
                repository: repository,
                operation: "looking where \(one.abbreviated) and \(other.abbreviated) part")
            _ = try reading.commit(one)
            _ = try reading.commit(other)
            var (first, second, base) = (try git_oid(one), try git_oid(other), git_oid())
            let result = git_merge_base(&base, repository, &first, &second)
            if result == GIT_ENOTFOUND.rawValue { return nil }
            try git(reading.operation) { result }
            return base.commitID
        }
    }
}
