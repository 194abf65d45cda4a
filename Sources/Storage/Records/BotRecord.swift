package import Model

/// A bot that was registered once. Its row stays when its file is removed, so that its integrations stay readable.
package struct BotRecord: Hashable, Sendable {
    package var name: Name
    /// As the bot's file writes it.
    package var repository: String
    /// Whether its file is gone.
    package var isRetired: Bool
    /// The integration with the highest number.
    package var latest: IntegrationRecord?

    package init(name: Name, repository: String, isRetired: Bool, latest: IntegrationRecord?) {
        self.name = name
        self.repository = repository
        self.isRetired = isRetired
        self.latest = latest
    }
}
