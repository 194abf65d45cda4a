package import Model
package import SourceControl
import Storage

/// The history that a job can query: the server's branches in its `.git`, and the commit to compare with.
package struct JobHistory: Sendable, Hashable {
    package var upstream: UpstreamRefs
    /// The commit for `MARTLET_BASE_COMMIT`. The job's change is the difference between it and the job's commit.
    package var base: CommitID?

    package init(upstream: UpstreamRefs = UpstreamRefs(), base: CommitID? = nil) {
        self.upstream = upstream
        self.base = base
    }
}

extension JobRunner {
    /// Determines the base of a job's commit. For a pull request it is the commit of its base. For a branch it is the commit of its previous
    /// integration, or at the first one the merge base with the default branch. Tags have no base.
    func history(of request: Request) async throws -> JobHistory {
        if let ownHistory { return ownHistory }
        let (integration, mirror) = (request.integration, request.mirror)
        let before = try await store.historyBefore(integration.id)
        var history = JobHistory(upstream: UpstreamRefs(defaultBranch: before.defaultBranch))
        if let branch = before.defaultBranch, let commit = before.defaultCommit {
            // The integration's own branch points at its commit, even if later commits were pushed.
            history.upstream.branches[branch] = integration.ref == branch ? integration.commit : commit
        }
        if let pull = integration.pull {
            history.upstream.branches[pull.base] = pull.baseCommit
            let isMerged = integration.commit != pull.head
            history.base =
                isMerged ? pull.baseCommit : await Self.fork(of: pull.head, pull.baseCommit, mirror) ?? pull.baseCommit
        } else if integration.ref.branch != nil {
            history.base = before.previous
            if before.previous == nil, let branch = before.defaultBranch, branch != integration.ref,
                let commit = before.defaultCommit
            {
                history.base = await Self.fork(of: commit, integration.commit, mirror)
            }
        }
        return history
    }

    /// Returns the merge base of two commits. `nil` if they have none, or if the mirror lacks the objects to find it; the job then runs without it.
    package static func fork(of one: CommitID, _ other: CommitID, _ mirror: Mirror) async -> CommitID? {
        (try? await mirror.mergeBase(one, other)) ?? nil
    }
}
