/// A bot.
package struct Bot: Codable, Hashable, Sendable {
    /// The name, which is that of its file.
    package var name: String
    /// The URL of its page.
    package var url: String
    /// The repository's URL or path, without a user.
    package var repository: String
    /// The patterns of the branches that it watches; `nil` for a retired bot, or if its file names none.
    package var branches: [String]?
    /// The patterns of the tags that it watches.
    package var tags: [String]
    /// The product that it publishes, which is usually its name.
    package var product: String
    /// Whether its file was removed. Its integrations stay.
    package var retired: Bool
    /// The schedule in words; `nil` without a schedule.
    package var schedule: String?
    /// When the schedule next queues an integration; `nil` without a schedule, and if it never does.
    package var nextScheduled: Time?
    /// The latest integration; `nil` if there is none.
    package var latest: Integration?
    /// When its repository was last scanned; `nil` if it never was.
    package var lookedAt: Time?
    /// The error of the newest scan; `nil` if it succeeded.
    package var lookError: String?
    /// Whether the repository has neither branches nor tags.
    package var empty: Bool
    /// The bot's own pause; `nil` if it is not paused.
    package var pause: Pause?

    /// Creates a value from all its properties.
    package init(
        name: String, url: String, repository: String, branches: [String]?, tags: [String], product: String,
        retired: Bool,
        schedule: String?, nextScheduled: Time?, latest: Integration?, lookedAt: Time?, lookError: String?, empty: Bool,
        pause: Pause?
    ) {
        self.name = name
        self.url = url
        self.repository = repository
        self.branches = branches
        self.tags = tags
        self.product = product
        self.retired = retired
        self.schedule = schedule
        self.nextScheduled = nextScheduled
        self.latest = latest
        self.lookedAt = lookedAt
        self.lookError = lookError
        self.empty = empty
        self.pause = pause
    }
}

/// All bots, with facts about the service.
package struct BotList: Codable, Hashable, Sendable {
    /// The bots by name.
    package var items: [Bot]
    /// Always `nil`: the list has one page.
    package var next: String?
    /// The errors of bot files, each as `file:line:column: error: …`.
    package var problems: [String]
    /// How jobs are isolated from the machine: `sandbox` or `none`.
    package var isolation: String
    /// Why jobs are not isolated; `nil` if they are.
    package var isolationReason: String?
    /// Why sandboxed steps with the network reach the machine's loopback although the settings do not ask for it; `nil` if they do not.
    package var loopbackReason: String?
    /// The service's version.
    package var version: String
    /// The pauses of the whole service. Those of bots are in `items`.
    package var pauses: [Pause]

    /// Creates a value from all its properties.
    package init(
        items: [Bot], next: String?, problems: [String], isolation: String, isolationReason: String?,
        loopbackReason: String?, version: String, pauses: [Pause]
    ) {
        self.items = items
        self.next = next
        self.problems = problems
        self.isolation = isolation
        self.isolationReason = isolationReason
        self.loopbackReason = loopbackReason
        self.version = version
        self.pauses = pauses
    }
}
