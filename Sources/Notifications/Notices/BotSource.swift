package import Model

/// The bots as their files define them now, for the senders of messages.
package protocol BotSource: Sendable {
    /// Returns a bot in its last valid form; `nil` if no bot has this name.
    func bot(_ name: Name) async -> BotSpecification?
}
