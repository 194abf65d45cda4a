/// The body of a request to delete a bot.
package struct BotDeletionRequest: Codable, Hashable, Sendable {
    /// Whether this is a dry run: the answer says what would go. `nil` means yes, so that an empty body deletes no bot.
    package var dryRun: Bool?

    /// Creates a value from all its properties.
    package init(dryRun: Bool?) {
        self.dryRun = dryRun
    }
}

/// What deleting a bot removes and keeps.
package struct BotDeletion: Codable, Hashable, Sendable {
    /// The bot.
    package var bot: String
    /// Whether it was deleted. Its files and rows go in the background.
    package var done: Bool
    /// Why it cannot be deleted now; `nil` if it can be.
    package var refusal: String?
    /// The number of integrations that go.
    package var integrations: Int
    /// The size of their files in bytes.
    package var bytes: Int64
    /// The number of their files.
    package var files: Int64
    /// The size of the workspaces in bytes.
    package var workspaceBytes: Int64
    /// The number of muted issues, whose mutes go.
    package var silences: Int
    /// The published versions, which stay.
    package var keeps: [Kept]

    /// The published versions of a product.
    package struct Kept: Codable, Hashable, Sendable {
        /// The product.
        package var product: String
        /// The number of its versions that the bot published.
        package var versions: Int

        /// Creates a value from all its properties.
        package init(product: String, versions: Int) {
            self.product = product
            self.versions = versions
        }
    }

    /// Creates a value from all its properties.
    package init(
        bot: String, done: Bool, refusal: String?, integrations: Int, bytes: Int64, files: Int64, workspaceBytes: Int64,
        silences: Int, keeps: [Kept]
    ) {
        self.bot = bot
        self.done = done
        self.refusal = refusal
        self.integrations = integrations
        self.bytes = bytes
        self.files = files
        self.workspaceBytes = workspaceBytes
        self.silences = silences
        self.keeps = keeps
    }
}

/// The body of a request to rename a bot.
package struct BotRenameRequest: Codable, Hashable, Sendable {
    /// The new name.
    package var name: String

    /// Creates a value from all its properties.
    package init(name: String) {
        self.name = name
    }
}

/// The removed workspaces of a bot.
package struct BotCleaning: Codable, Hashable, Sendable {
    /// The bot.
    package var bot: String
    /// The number of removed workspaces.
    package var workspaces: Int
    /// Their size in bytes.
    package var bytes: Int64
    /// The number of workspaces that stay, because a job uses them.
    package var busy: Int

    /// Creates a value from all its properties.
    package init(bot: String, workspaces: Int, bytes: Int64, busy: Int) {
        self.bot = bot
        self.workspaces = workspaces
        self.bytes = bytes
        self.busy = busy
    }
}

/// The space that the service takes on its disk.
package struct DiskReport: Codable, Hashable, Sendable {
    /// The parts, the largest first; at most 20,000.
    package var items: [Part]
    /// The size of all parts in bytes.
    package var bytes: Int64
    /// The number of all files.
    package var files: Int64
    /// The free space of the state directory's disk in bytes; `nil` if it cannot be read.
    package var free: Int64?

    /// A part of the state directory.
    package struct Part: Codable, Hashable, Sendable {
        /// `integrations` and `workspaces` of a bot, a `mirror`, `published` versions of a product, the `database`, or `other`.
        package var kind: String
        /// The bot, product, or directory.
        package var name: String
        /// The size of its files in bytes.
        package var bytes: Int64
        /// The number of its files.
        package var files: Int64

        /// Creates a value from all its properties.
        package init(kind: String, name: String, bytes: Int64, files: Int64) {
            self.kind = kind
            self.name = name
            self.bytes = bytes
            self.files = files
        }
    }

    /// Creates a value from all its properties.
    package init(items: [Part], bytes: Int64, files: Int64, free: Int64?) {
        self.items = items
        self.bytes = bytes
        self.files = files
        self.free = free
    }
}

/// The body of a request to rerun what failed by the machine's fault.
package struct MachineRerunRequest: Codable, Hashable, Sendable {
    /// Only integrations that ended since then (RFC 3339).
    package var since: String
    /// Only the integrations of this bot; `nil` for all bots.
    package var bot: String?
    /// Whether this is a dry run: the answer says what would run again. `nil` means no.
    package var dryRun: Bool?

    /// Creates a value from all its properties.
    package init(since: String, bot: String?, dryRun: Bool?) {
        self.since = since
        self.bot = bot
        self.dryRun = dryRun
    }
}

/// What failed by the machine's fault, and what became of the request to run it again.
package struct MachineReruns: Codable, Hashable, Sendable {
    /// The integrations, the oldest first.
    package var items: [Item]
    /// The number of integrations beyond the limit of 500, which are not queued. Ask again for them.
    package var omitted: Int

    /// An integration.
    package struct Item: Codable, Hashable, Sendable {
        /// The integration, such as `kit#41`.
        package var integration: String
        /// Its verdict: `internal-error` or `checkout-error`.
        package var verdict: String
        /// Whether it is queued again.
        package var queued: Bool
        /// Why it is not queued; `nil` if it is, and in a dry run.
        package var refusal: String?

        /// Creates a value from all its properties.
        package init(integration: String, verdict: String, queued: Bool, refusal: String?) {
            self.integration = integration
            self.verdict = verdict
            self.queued = queued
            self.refusal = refusal
        }
    }

    /// Creates a value from all its properties.
    package init(items: [Item], omitted: Int) {
        self.items = items
        self.omitted = omitted
    }
}
