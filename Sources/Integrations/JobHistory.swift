package import Model
package import SourceControl
import Storage

/// What a job can ask of the past: the server's branches in its `.git`, and the commit that its own is compared with.
package struct JobHistory: Sendable, Hashable {
    package var upstream: UpstreamRefs
    /// `MARTLET_BASE_COMMIT`: what changed is what lies between it and the job's commit.
    package var base: CommitID?

    package init(upstream: UpstreamRefs = UpstreamRefs(), base: CommitID? = nil) {
        self.upstream = upstream
        self.base = base
    }
}

extension JobRunner {
    /// The base of a job's commit: of a pull request its base's commit; of a branch the commit of its integration before, or, at its first,
    /// where it parts from the default branch. Tags have none.
    func history(of request: Request) async throws -> JobHistory {
        if let ownHistory { return ownHistory }
        let (integration, mirror) = (request.integration, request.mirror)
        let before = try await store.historyBefore(integration.id)
        var history = JobHistory(upstream: UpstreamRefs(defaultBranch: before.defaultBranch))
        if let branch = before.defaultBranch, let commit = before.defaultCommit {
            // Its own branch is where its commit is, whatever was pushed since.
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

    /// Where two commits part; `nil` where they have nothing in common, and where the mirror has not what would tell: a job does without.
    static func fork(of one: CommitID, _ other: CommitID, _ mirror: Mirror) async -> CommitID? {
        (try? await mirror.mergeBase(one, other)) ?? nil
    }
}
