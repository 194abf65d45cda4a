import CLibGit2
import Model

/// Merges two commits of an open repository without a working tree, on its queue.
///
/// It uses no attributes, drivers or hooks: a bare repository has none, and libgit2 does not read those of the account and the machine (`LibGit2`).
struct MergeWriter {
    let reading: CommitReading
    /// The limits above which commits are not merged.
    var limits = MergeSurvey.Limits()

    /// The times that git accepts, in seconds since 1970. A commit may claim any.
    private static let times: ClosedRange<Int64> = 0...253_402_300_799

    /// Writes the merge as a commit with the parents `base` and `head`.
    ///
    /// Its author and committer are the service, and its time is that of `head`. So the same two commits give the same merge: in a rerun, after a
    /// restart, and in a mirror that was made again.
    func merge(_ head: CommitID, into base: CommitID) throws(SourceControlError) -> MergeOutcome {
        let operation = reading.operation
        let ours = try reading.commit(base)
        let theirs = try reading.commit(head)
        let (first, second) = (ours.pointer, theirs.pointer)
        do throws(SourceControlError) {
            var options = git_merge_options()
            try git(operation) { git_merge_options_init(&options, UInt32(GIT_MERGE_OPTIONS_VERSION)) }
            switch try MergeSurvey(reading: reading, limits: limits).answer(head: head, base: base) {
            case .tooMuch(let reason): return .refused("the merge would exceed a limit: \(reason)")
            case .mayMerge(let findsRenames): options.flags = findsRenames ? GIT_MERGE_FIND_RENAMES.rawValue : 0
            }
            options.recursion_limit = UInt32(limits.ancestors)
            let index = try GitHandle(operation, free: git_index_free) {
                git_merge_commits($0, reading.repository, first, second, &options)
            }
            let pointer = index.pointer
            if git_index_has_conflicts(pointer) == 1 { return try conflicts(in: pointer) }
            var tree = git_oid()
            try git(operation) { git_index_write_tree_to(&tree, pointer, reading.repository) }
            return .merged(try write(tree, base: base, head: head, at: git_commit_time(second)))
        } catch {
            guard error.code != .mirrorDamaged, let failure = error.underlying as? GitFailure else { throw error }
            // A missing object means that the mirror is damaged. Any other refusal of libgit2 is due to the two commits.
            guard failure.code != GIT_ENOTFOUND.rawValue else {
                throw SourceControlError(
                    code: .mirrorDamaged, operation: operation,
                    message: "\(error.message); the next fetch repairs the mirror", underlying: error)
            }
            return .refused(error.message)
        }
    }

    private func conflicts(in index: OpaquePointer) throws(SourceControlError) -> MergeOutcome {
        var opened: OpaquePointer?
        try git(reading.operation) { git_index_conflict_iterator_new(&opened, index) }
        defer { git_index_conflict_iterator_free(opened) }
        var (paths, count): ([String], Int) = ([], 0)
        var (ancestor, ours, theirs): (Entry, Entry, Entry) = (nil, nil, nil)
        while git_index_conflict_next(&ancestor, &ours, &theirs, opened) == 0 {
            count += 1
            guard paths.count < MergeOutcome.maximumPaths else { continue }
            if let path = (ours ?? theirs ?? ancestor)?.pointee.path { paths.append(String(cString: path)) }
        }
        return .conflicts(paths: paths, count: count)
    }

    private typealias Entry = UnsafePointer<git_index_entry>?

    private func write(
        _ tree: git_oid, base: CommitID, head: CommitID, at time: Int64
    ) throws(SourceControlError) -> CommitID {
        let operation = reading.operation
        let stamp = "Martlet <martlet@localhost> \(min(max(time, Self.times.lowerBound), Self.times.upperBound)) +0000"
        let text = """
            tree \(tree.hexadecimal)
            parent \(base)
            parent \(head)
            author \(stamp)
            committer \(stamp)

            Merge \(head) into \(base)

            """
        let store = try GitHandle(operation, free: git_odb_free) { git_repository_odb($0, reading.repository) }
        var id = git_oid()
        try git(operation) { git_odb_write(&id, store.pointer, text, text.utf8.count, GIT_OBJECT_COMMIT) }
        guard let commit = id.commitID else {
            throw SourceControlError(code: .other, operation: operation, message: "libgit2 wrote no commit")
        }
        return commit
    }
}
