import Model
import SourceControl
import Storage

extension IntegrationRunner {
    /// The most changed files that are held to a bot's patterns; a push of more is integrated.
    private static let maximumPaths = 10_000

    /// Whether a commit may have to be left out, so that its integration has to be prepared by and by.
    static func maySkip(_ record: IntegrationRecord, _ commit: CommitContent, bot: BotSpecification) -> Bool {
        isPush(record) && (bot.paths != nil || SkipWord.first(in: commit.details.message) != nil)
    }

    private static func isPush(_ record: IntegrationRecord) -> Bool {
        [.push, .poll].contains(record.cause) && record.run == 1 && record.ref.branch != nil
    }

    /// Why a push is left out; nothing: it is integrated. In doubt it is: where nothing changed, where what was there before is not to
    /// be had any more, and where there is too much to look at.
    func skipReason(
        of record: IntegrationRecord, _ commit: CommitContent, bot: BotSpecification, mirror: Mirror
    ) async throws -> String? {
        guard Self.maySkip(record, commit, bot: bot), let range = try await store.pushedRange(of: record.id) else {
            return nil
        }
        // Who wrote it spoke of this commit, not of those that nobody has judged.
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

    /// What a push is compared with: what was judged last, also where a forced one takes that back; a new branch with where it parts
    /// from the default branch.
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
