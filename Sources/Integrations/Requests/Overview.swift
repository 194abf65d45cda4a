package import Model

/// An overview of the service: its bots, and the problems of their files.
package struct Overview: Sendable {
    package var bots: [BotSpecification]
    /// The errors of bot files, each as `file:line:column: error: …`. Such a bot continues with its last valid form, if it had one.
    package var problems: [String]
    /// How jobs are isolated from the machine. Every page warns if they are not, with the reason.
    package var isolation: Isolation
    /// The reason why sandboxed steps with the network reach the machine's loopback although the settings do not ask for it; `nil` if they do not.
    /// Every page shows it.
    package var loopbackReason: String?
    package var version: String

    package init(
        bots: [BotSpecification], problems: [String], isolation: Isolation, loopbackReason: String?,
        version: String
    ) {
        self.bots = bots
        self.problems = problems
        self.isolation = isolation
        self.loopbackReason = loopbackReason
        self.version = version
    }
}
