package import Model

/// The service at a glance: which bots there are and what is wrong in their files.
package struct Overview: Sendable {
    package var bots: [BotSpecification]
    /// Messages about bot files, each `file:line:column: error: …`. The bot, if it had a good form, runs on with it.
    package var problems: [String]
    /// How jobs are separated from the machine. Every page says so when they are not, and why.
    package var isolation: Isolation
    /// Why fenced steps with the network reach the machine's loopback, where nobody wished it. Every page says so.
    package var loopbackReason: String?
    /// The service's URL for links, without a slash at its end.
    package var url: String
    package var version: String

    package init(
        bots: [BotSpecification], problems: [String], isolation: Isolation, loopbackReason: String?, url: String,
        version: String
    ) {
        self.bots = bots
        self.problems = problems
        self.isolation = isolation
        self.loopbackReason = loopbackReason
        self.url = url
        self.version = version
    }
}
