import Model
import SourceControl
import Storage

extension IntegrationRunner {
    /// The most changed files that are compared with a bot's patterns. A push that changes more is integrated.
    private static let maximumPaths = 10_000

    /// Whether a commit may have to be skipped, so that its integration cannot be prepared early.
    static func maySkip(_ record: IntegrationRecord, _ commit: CommitContent, bot: BotSpecification) -> Bool {
        isPush(record) && (bot.paths != nil || SkipWord.first(in: commit.details.message) != nil)
    }

    private static func isPush(_ record: IntegrationRecord) -> Bool {
        [.push, .poll].contains(record.cause) && record.run == 1 && record.ref.branch != nil
    }

    /// Returns why a push is skipped; `nil` if it is integrated. It is integrated in doubt: if no file changed, if the earlier commit is no longer
    /// available, or if too many files changed.
    func skipReason(
        of record: IntegrationRecord, _ commit: CommitContent, bot: BotSpecification, mirror: Mirror
    ) async throws -> String? {
        guard Self.maySkip(record, commit, bot: bot), let range = try await store.pushedRange(of: record.id) else {
            return nil
        }
        // The author meant this commit, not earlier commits that were not integrated.
        if let word = SkipWord.first(in: commit.details.message), !range.hasEarlier {
            return "skipped: the commit's message says \(word)"
        }
        guard let paths = bot.paths else { return nil }
        do {
            guard let base = try await base(of: record, range, mirror) else { return nil }
            let changed = try await mirror.changedPaths(
                from: base, to: record.commit, filter: paths, limit: Self.maximumPaths)
            guard let first = changed.first, !changed.matters else { return nil }
            let others = changed.count == 1 ? "" : " and \(changed.count - 1) more"
            return "skipped: no changed file is one of the bot's `paths`: \(first)\(others)"
        } catch let error as SourceControlError where [.commitMissing, .refGone, .notACommit].contains(error.code) {
            return nil
        }
    }

    /// Returns the commit that a push is compared with. That is the commit that was integrated last, even if a forced push removes it from the
    /// branch. For a new branch it is the merge base with the default branch. `nil` if there is none.
    private func base(of record: IntegrationRecord, _ range: PushedRange, _ mirror: Mirror) async throws -> CommitID? {
        if let before = range.before { return before }
        guard let branch = try await store.repository(record.repository)?.defaultBranch, branch != record.ref,
            let head = try await store.heads(of: record.repository)[branch]
        else { return nil }
        if try await !mirror.contains(head) {
            try await ask(record.repository, for: record) { try await mirror.fetch([branch: head]) }
        }
        return try await mirror.mergeBase(head, record.commit)
    }
}
