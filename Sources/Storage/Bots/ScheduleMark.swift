package import Model

/// The time up to which a bot's schedule has been handled. Its earlier moments are not due any more.
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
