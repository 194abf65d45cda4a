import Model
import SourceControl
import Storage

extension Mirror {
    /// Sees to it that what an integration checks out is here: its commit, or a pull request's base and head with their merge.
    func bring(_ record: IntegrationRecord) async throws(SourceControlError) {
        guard let pull = record.pull else { return try await fetch([record.ref: record.commit]) }
        try await fetch([pull.base: pull.baseCommit, pull.place: pull.head])
        _ = try await combine(pull)
    }

    /// What is integrated of a pull request: the merge of its base and its head, or the head alone where there is none.
    /// - Returns: The commit, and why it is the head alone.
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
