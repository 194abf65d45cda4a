import Model
import SourceControl
import Storage

extension Mirror {
    /// Fetches the commit that an integration checks out. For a pull request it fetches the base and the head, and merges them.
    func fetch(_ record: IntegrationRecord) async throws(SourceControlError) {
        guard let pull = record.pull else { return try await fetch([record.ref: record.commit]) }
        try await fetch([pull.base: pull.baseCommit, pull.place: pull.head])
        _ = try await combine(pull)
    }

    /// Returns the commit to integrate for a pull request: the merge of its base and its head, or the head alone if they do not merge.
    /// - Returns: The commit, and the reason why it is the head alone; the reason is `nil` for a merge.
    func combine(
        _ pull: IntegratedPullRequest
    ) async throws(SourceControlError) -> (commit: CommitID, unmerged: String?) {
        let base = pull.base.shortName
        switch try await merge(pull.head, into: pull.baseCommit) {
        case .merged(let commit): return (commit, nil)
        case .conflicts(let paths, let count):
            let more = count > paths.count ? " and \(count - paths.count) more" : ""
            return (
                pull.head,
                "it does not merge with \(base), so its head alone is integrated: both change \(paths.joined(separator: ", "))\(more)"
            )
        case .refused(let reason):
            return (pull.head, "it does not merge with \(base), so its head alone is integrated: \(reason)")
        }
    }
}
