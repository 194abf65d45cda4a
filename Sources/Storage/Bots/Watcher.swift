package import Model

/// A bot's rules for refs and pull requests, as a scan applies them.
package struct Watcher: Sendable {
    package var bot: Name
    /// A canonical text of the bot's patterns, with the default branch if they depend on it. If it differs from the last scan's, refs that match only
    /// now are baselined.
    package var patterns: String
    /// Whether the bot integrates a ref.
    package var watches: @Sendable (RefName) -> Bool
    /// Whether commits of a ref may be published.
    package var isRelease: @Sendable (RefName) -> Bool
    /// The older integrations of a ref that a newer commit ends.
    package var supersede: @Sendable (RefName) -> BotSpecification.Supersede

    /// The bot's decision about a pull request.
    package var answer: @Sendable (SeenPullRequest) -> PullRequestAnswer

    package init(
        bot: Name, patterns: String, watches: @escaping @Sendable (RefName) -> Bool,
        isRelease: @escaping @Sendable (RefName) -> Bool,
        supersede: @escaping @Sendable (RefName) -> BotSpecification.Supersede,
        answer: @escaping @Sendable (SeenPullRequest) -> PullRequestAnswer = { _ in .refuses("it is not asked for") }
    ) {
        self.answer = answer
        self.bot = bot
        self.patterns = patterns
        self.watches = watches
        self.isRelease = isRelease
        self.supersede = supersede
    }
}
