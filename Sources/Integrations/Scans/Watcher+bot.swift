import Model
import Storage

extension Watcher {
    /// Creates a watcher with the rules of a bot, for a scan.
    init(for bot: BotSpecification, isolation: Isolation, defaultBranch: RefName?) {
        let branches = bot.branches?.map(\.description) ?? [defaultBranch?.description ?? "", "release/*"]
        var patterns =
            "branches: \(branches.joined(separator: " ")) tags: \(bot.tags.map(\.description).joined(separator: " "))"
        let isSandboxed = isolation == .sandbox
        // The patterns change when pull requests are no longer refused, so that those refused before are considered again.
        if bot.pullRequests != .trusted || !isSandboxed {
            patterns += " pull-requests: \(isSandboxed ? bot.pullRequests.rawValue : "refused")"
        }
        self.init(
            bot: bot.name, patterns: patterns, watches: { bot.watches($0, defaultBranch: defaultBranch) },
            isRelease: { bot.isRelease($0) }, supersede: { bot.supersede(on: $0) },
            answer: {
                isSandboxed
                    ? bot.answer(to: $0, defaultBranch: defaultBranch) : .refuses(RepositoryScans.noSandboxReason)
            })
    }
}
