import Integrations
import Model
import Storage

/// The current state of an open pull request for a bot, for the HTTP interface and the pages.
struct PullRequestState: Sendable {
    enum Word: String, Sendable, CaseIterable {
        /// Its head has an integration.
        case integrated
        /// It waits for an operator.
        case waiting
        /// The bot does not integrate it.
        case refused
        /// No scan has found its head yet.
        case unseen

        /// The word on pages.
        var title: String {
            switch self {
            case .integrated: "integrated"
            case .waiting: "waits for approval"
            case .refused: "not integrated"
            case .unseen: "no results yet"
            }
        }
    }

    let pull: PullRequestRecord
    let word: Word
    /// The reason why it is not integrated; `nil` if it is.
    let reason: String?
    /// Its newest integration. It belongs to an earlier head as long as the newest head has none.
    let integration: IntegrationOutline?

    /// Returns the states of all open pull requests of a bot, newest first.
    static func all(of bot: BotRecord, site: Site) async throws -> [PullRequestState] {
        let pulls = try await site.store.openPulls(of: bot.repository)
        guard !pulls.isEmpty, !bot.isRetired else { return [] }
        let overview = await site.operations.overview()
        guard let specification = overview.bot(bot.name) else { return [] }
        let latest = try await site.store.latestOfPulls(of: bot.name)
        let main = bot.repositoryState?.defaultBranch
        return pulls.map { pull in
            PullRequestState(
                pull, latest: latest[pull.number],
                answer: pull.seen.map { seen in
                    overview.isolation == .sandbox
                        ? specification.answer(to: seen, defaultBranch: main)
                        : .refuses("jobs are not separated from the machine (isolation: none)")
                }, bot: bot.name)
        }
    }

    private init(
        _ pull: PullRequestRecord, latest: IntegrationOutline?, answer: PullRequestAnswer?, bot: Name
    ) {
        (self.pull, integration) = (pull, latest)
        guard let seen = pull.seen, let answer else {
            (word, reason) = (.unseen, "the repository does not list \(pull.place) yet")
            return
        }
        if let done = latest?.pull, done.head == seen.head, done.base == seen.base {
            (word, reason) = (.integrated, nil)
            return
        }
        switch answer {
        case .integrates: (word, reason) = (.unseen, "the next scan integrates it")
        case .awaitsApproval: (word, reason) = (.waiting, Store.awaitsApproval(seen, bot: bot))
        case .refuses(let why): (word, reason) = (.refused, why)
        }
    }
}
