package import Model

/// For which version of the machine's toolchain a bot's tips were integrated.
package struct ToolchainMark: Hashable, Sendable {
    package var bot: Name
    /// The one of which all were.
    package var version: String
    /// The one for which they are being queued; nothing while none are.
    package var next: String?
    /// The last ref, in order of name, that was queued for the next one.
    package var reached: RefName?

    package init(bot: Name, version: String, next: String? = nil, reached: RefName? = nil) {
        self.bot = bot
        self.version = version
        self.next = next
        self.reached = reached
    }
}
