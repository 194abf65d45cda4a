package import Model

/// A bot that was registered once. Its row stays when its file is removed, so that its integrations stay readable.
package struct BotRecord: Hashable, Sendable {
    package var name: Name
    /// The repository as the bot's file writes it.
    package var repository: String
    /// Whether the bot's file is gone.
    package var isRetired: Bool
    /// The known state of the bot's repository; `nil` for a retired bot, whose repository is not scanned.
    package var repositoryState: RepositoryRecord?
    /// The newest integration of a branch or tag.
    package var latest: IntegrationOutline?

    package init(
        name: Name, repository: String, isRetired: Bool, repositoryState: RepositoryRecord?, latest: IntegrationOutline?
    ) {
        self.name = name
        self.repository = repository
        self.isRetired = isRetired
        self.repositoryState = repositoryState
        self.latest = latest
    }
}
