package import Model

/// Up to when a bot's schedule was taken up: what of its moments was before that is done with.
package struct ScheduleMark: Hashable, Sendable {
    package var bot: Name
    /// The schedule's times and zone as text.
    package var schedule: String
    package var takenUp: Timestamp

    package init(bot: Name, schedule: String, takenUp: Timestamp) {
        self.bot = bot
        self.schedule = schedule
        self.takenUp = takenUp
    }
}
