import Jobs
import Model
import Settings
import SourceControl
import Storage

/// What is other for a pull request: the merge is ours, and of a fork's the base says how it is built.
extension IntegrationRunner {
    /// Brings base and head into the mirror and merges them; the same two make the same commit, so it can be done again at any time.
    /// - Returns: The integration with what it is of.
    /// - Throws: `ServerAwaited`.
    func merged(
        _ record: IntegrationRecord, _ pull: IntegratedPullRequest, _ mirror: Mirror
    ) async throws -> IntegrationRecord {
        let isWhole = await !mirror.isMarkedDamaged
        if isWhole, record.recipe != nil, try await mirror.contains(record.commit) { return record }
        let (hasBase, hasHead) = (try await mirror.contains(pull.baseCommit), try await mirror.contains(pull.head))
        if !isWhole || !hasBase || !hasHead {
            try await ask(record.repository, for: record) { try await mirror.fetch(record) }
            try await repack(mirror)
        }
        let (commit, unmerged) = try await combined(pull, of: record, mirror)
        if commit == record.commit, unmerged == pull.unmerged { return record }
        return try await store.recordMerge(of: record.id, commit: commit, unmerged: unmerged)
    }

    /// Merges a pull request's commits, which are in the mirror. Fetches them once more if the mirror has lost some of their files.
    /// - Throws: `ServerAwaited`.
    private func combined(
        _ pull: IntegratedPullRequest, of record: IntegrationRecord, _ mirror: Mirror
    ) async throws -> (commit: CommitID, unmerged: String?) {
        do throws(SourceControlError) {
            return try await mirror.combine(pull)
        } catch {
            guard [.mirrorDamaged, .commitMissing].contains(error.code) else { throw error }
            try await ask(record.repository, for: record) { try await mirror.fetch(record) }
            return try await mirror.combine(pull)
        }
    }

    /// Why nothing of it is run.
    ///
    /// Submodules are fetched with the bot's own credentials, so a fork that named others would get to read them.
    func refusal(
        of record: IntegrationRecord, _ pull: IntegratedPullRequest, bot: BotSpecification, _ mirror: Mirror
    ) async throws -> String? {
        guard !pull.isTrusted, bot.hasSubmodules,
            try await mirror.haveOtherSubmodules(pull.baseCommit, record.commit)
        else { return nil }
        return "a fork's pull request has other submodules than \(pull.base.shortName), and those are fetched with the "
            + "bot's credentials: push its commits to a branch of the repository to integrate it"
    }

    /// The commit whose recipe and whose type of project count: of a fork's pull request the base, since whoever wrote the rest may not
    /// say what runs.
    /// - Throws: As `mended`.
    func ruling(
        _ commit: CommitContent, of record: IntegrationRecord, bot: BotSpecification, _ mirror: Mirror
    ) async throws -> CommitContent {
        guard let pull = record.pull, !pull.isTrusted else { return commit }
        return try await mended(pull.baseCommit, of: record, bot: bot, mirror)
    }

    /// What people read of the commit: of a pull request its head's words, since nobody wrote the merge.
    func summary(
        of commit: CommitContent, _ record: IntegrationRecord, _ mirror: Mirror
    ) async throws -> CommitSummary {
        var summary = Self.summary(of: commit)
        guard let pull = record.pull else { return summary }
        let head = try await mirror.details(of: pull.head)
        (summary.subject, summary.author) = (head.subject, head.authorName)
        return summary
    }
}
