package import Model

/// A bot as a look sees it.
package struct Watcher: Sendable {
    package var bot: Name
    /// A canonical text of the bot's patterns (with the default branch, where it counts). When it differs from the
    /// last look's, refs that match now and did not before are baselined.
    package var patterns: String
    /// Whether the bot integrates a ref.
    package var watches: @Sendable (RefName) -> Bool
    /// Whether commits of a ref may be published.
    package var isRelease: @Sendable (RefName) -> Bool
    /// What a newer commit of a ref ends.
    package var supersede: @Sendable (RefName) -> BotSpecification.Supersede

    /// What becomes of a pull request.
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
