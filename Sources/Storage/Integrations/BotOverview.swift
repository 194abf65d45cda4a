package import Model

/// A bot as the overview page shows it.
package struct BotOverview: Hashable, Sendable {
    /// The newest integration of a branch or tag.
    package struct Branch: Hashable, Sendable {
        package var ref: RefName
        package var number: Int
        package var state: IntegrationState
        /// See `IntegrationRecord.isSkipped`.
        package var isSkipped: Bool
        package var subject: String?
        package var summary: Summary?
        package var queuedAt: Timestamp
    }

    package var name: Name
    /// The repository as the bot's file writes it.
    package var repository: String
    /// Whether the bot's file is gone.
    package var isRetired: Bool
    /// See `RepositoryRecord.lastError`; `nil` for a retired bot.
    package var lookError: String?
    /// See `RepositoryRecord.isEmpty`; false for a retired bot.
    package var isEmpty: Bool
    /// The most recently integrated branches and tags, newest first, without pull requests.
    package var branches: [Branch]

    package init(
        name: Name, repository: String, isRetired: Bool, lookError: String?, isEmpty: Bool, branches: [Branch]
    ) {
        self.name = name
        self.repository = repository
        self.isRetired = isRetired
        self.lookError = lookError
        self.isEmpty = isEmpty
        self.branches = branches
    }
}
