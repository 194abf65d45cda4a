import CLibGit2
package import Model

extension Mirror {
    /// The paths that differ between two commits, of any kind, renames as both names, held to a filter.
    package struct ChangedPaths: Sendable, Hashable {
        /// How many there are.
        package var count: Int
        /// The first in the order of the trees, submodules with a `/` at their end; what is not UTF-8 is repaired.
        package var first: String?
        /// Whether one of them matters to the filter, or there are more than were to be looked at.
        package var matters: Bool
    }

    /// - Parameter limit: The number of paths that are matched against the filter at most.
    /// - Throws: `commitMissing` when one of the two is not here.
    package func changedPaths(
        from: CommitID, to: CommitID, filter: PathFilter, limit: Int
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
            let paths = (0..<min(count, limit)).lazy.compactMap { index -> String? in
                guard let delta = git_diff_get_delta(diff.pointer, index)?.pointee,
                    let path = delta.new_file.path ?? delta.old_file.path
                else { return nil }
                let submodule = UInt16(GIT_FILEMODE_COMMIT.rawValue)
                let isSubmodule = delta.new_file.mode == submodule || delta.old_file.mode == submodule
                return String(cString: path) + (isSubmodule ? "/" : "")
            }
            return ChangedPaths(
                count: count, first: paths.first, matters: count > limit || filter.first(in: paths) != nil)
        }
    }

    /// Returns the newest common ancestor of two commits; `nil` if there is none.
    /// - Throws: `commitMissing` if the mirror does not have one of the two.
    package func mergeBase(_ one: CommitID, _ other: CommitID) async throws(SourceControlError) -> CommitID? {
        try await local(isKept: true) { repository throws(SourceControlError) in
            let reading = CommitReading(
                repository: repository,
                operation: "finding where \(one.abbreviated) and \(other.abbreviated) part")
            _ = try reading.commit(one)
            _ = try reading.commit(other)
            var (first, second, base) = (try git_oid(one), try git_oid(other), git_oid())
            let result = git_merge_base(&base, repository, &first, &second)
            if result == GIT_ENOTFOUND.rawValue { return nil }
            try git(reading.operation) { result }
            return base.commitID
        }
    }

    /// Returns the newest commit of a set that a commit is or descends from; `nil` if none of the newest `limit` ancestors is one of them.
    /// - Parameter limit: The most commits that are read, the newest first.
    /// - Throws: `commitMissing` if the mirror does not have the commit.
    package func newestAncestor(
        of commit: CommitID, among commits: Set<CommitID>, limit: Int
    ) async throws(SourceControlError) -> CommitID? {
        guard !commits.isEmpty else { return nil }
        return try await local(isKept: true) { repository throws(SourceControlError) in
            let reading = CommitReading(
                repository: repository, operation: "looking for the parent of \(commit.abbreviated)")
            _ = try reading.commit(commit)
            let walk = try GitHandle(reading.operation, free: git_revwalk_free) { git_revwalk_new($0, repository) }
            var start = try git_oid(commit)
            try git(reading.operation) { git_revwalk_sorting(walk.pointer, GIT_SORT_TIME.rawValue) }
            try git(reading.operation) { git_revwalk_push(walk.pointer, &start) }
            var (next, count) = (git_oid(), 0)
            while count < limit, git_revwalk_next(&next, walk.pointer) == 0 {
                if let found = next.commitID, commits.contains(found) { return found }
                count += 1
            }
            return nil
        }
    }
}
