/// A user's order that no further integration starts.
package struct Pause: Codable, Hashable, Sendable {
    /// What does not start: `service` and `drain` are integrations of every bot, `bot` those of one, `publishing` publications and uploads. A drain
    /// ends when the machine has restarted.
    package var scope: String
    /// The bot; `nil` for the whole service.
    package var bot: String?
    /// Why, in the user's words; `nil` if the user did not say.
    package var reason: String?
    /// The user.
    package var by: String
    /// When it began.
    package var since: Time

    /// Creates a value from all its properties.
    package init(scope: String, bot: String?, reason: String?, by: String, since: Time) {
        self.scope = scope
        self.bot = bot
        self.reason = reason
        self.by = by
        self.since = since
    }
}

/// What is paused, and what still runs.
package struct PauseState: Codable, Hashable, Sendable {
    /// The pauses: those of the whole service first, then those of bots by name.
    package var pauses: [Pause]
    /// The number of integrations that run.
    package var running: Int
    /// Whether no integration runs and none starts, so that the machine can be stopped without interrupting a job.
    package var drained: Bool

    /// Creates a value from all its properties.
    package init(pauses: [Pause], running: Int, drained: Bool) {
        self.pauses = pauses
        self.running = running
        self.drained = drained
    }
}

/// The body of a request to pause the service or a bot.
package struct PauseRequest: Codable, Hashable, Sendable {
    /// The bot; `nil` for the whole service.
    package var bot: String?
    /// Why, at most 1,000 bytes; `nil` for no reason.
    package var reason: String?

    /// Creates a value from all its properties.
    package init(bot: String?, reason: String?) {
        self.bot = bot
        self.reason = reason
    }
}

/// The body of a request to end a pause.
package struct ResumeRequest: Codable, Hashable, Sendable {
    /// The bot; `nil` for the whole service, whose pause and drain end.
    package var bot: String?
    /// Whether only publishing goes on that a restore holds. `nil` means no.
    package var publishing: Bool?
    /// Needed with `publishing`: the versions that were published after the restored backup was made; empty if there is none. No other bytes get
    /// their numbers.
    package var published: [PublishedVersion]?

    /// A version that was published.
    package struct PublishedVersion: Codable, Hashable, Sendable {
        /// The product.
        package var product: String
        /// The version, such as `1.4.2`.
        package var version: String

        /// Creates a value from all its properties.
        package init(product: String, version: String) {
            self.product = product
            self.version = version
        }
    }

    /// Creates a value from all its properties.
    package init(bot: String?, publishing: Bool? = nil, published: [PublishedVersion]? = nil) {
        self.bot = bot
        self.publishing = publishing
        self.published = published
    }
}

/// The body of a request to drain the service.
package struct DrainRequest: Codable, Hashable, Sendable {
    /// Why, at most 1,000 bytes; `nil` for no reason.
    package var reason: String?

    /// Creates a value from all its properties.
    package init(reason: String?) {
        self.reason = reason
    }
}
