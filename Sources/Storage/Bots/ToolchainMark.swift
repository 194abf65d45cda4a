package import Model

/// The version of the machine's toolchain for which a bot's branch tips have been integrated.
package struct ToolchainMark: Hashable, Sendable {
    package var bot: Name
    /// The version for which all tips have been integrated.
    package var version: String
    /// The version for which tips are being queued; `nil` if none are.
    package var next: String?
    /// The last ref, in order of name, that was queued for `next`.
    package var reached: RefName?

    package init(bot: Name, version: String, next: String? = nil, reached: RefName? = nil) {
        self.bot = bot
        self.version = version
        self.next = next
        self.reached = reached
    }
}
