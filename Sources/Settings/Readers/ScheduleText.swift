import Model

/// A reader and writer of schedules as users write them in one line: `daily 02:00`, `weekly sunday 02:00`, `30 2 * * 1-5`, `@weekly`. The name of a
/// time zone may follow.
enum ScheduleText {
    typealias Schedule = BotSpecification.Schedule

    /// Parses a schedule without looking up its zone.
    /// - Throws: The reason why the text is no schedule.
    static func parse(_ text: String) throws(CronExpression.Problem) -> Schedule {
        var words = text.split(separator: " ").map(String.init)
        let first = words.first?.lowercased()
        // The number of words before a zone's name.
        let count = first == "daily" ? 2 : first == "weekly" ? 3 : first?.hasPrefix("@") == true ? 1 : 5
        let zone = words.count == count + 1 && words.last?.first?.isLetter == true ? words.removeLast() : nil
        guard count == 2 || count == 3 else {
            let times = try CronExpression(words.joined(separator: " "))
            return Schedule(text: times.description, times: times, zone: zone)
        }
        guard words.count == count, let time = words.last.flatMap(time),
            let schedule = count == 2
                ? Schedule.daily(hour: time.hour, minute: time.minute, zone: zone)
                : Schedule.weekday(words[1].lowercased()).flatMap({
                    Schedule.weekly(weekday: $0, hour: time.hour, minute: time.minute, zone: zone)
                })
        else { throw CronExpression.Problem(message: "a time is missing, or not between 00:00 and 23:59") }
        return schedule
    }

    /// Returns the schedule as YAML, with a comment.
    static func print(_ schedule: Schedule) -> (value: String, comment: String?) {
        guard schedule.zone != nil || schedule.branches != nil else {
            return (YAMLText.scalar(schedule.text), "UTC")
        }
        var parts = ["cron: " + YAMLText.scalar(schedule.text)]
        if let zone = schedule.zone { parts.append("time-zone: " + YAMLText.scalar(zone)) }
        if let branches = schedule.branches { parts.append("branches: " + YAMLText.list(branches.map(\.description))) }
        return ("{ \(parts.joined(separator: ", ")) }", schedule.zone == nil ? "UTC" : nil)
    }

    private static func time(_ text: String) -> (hour: Int, minute: Int)? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[1].utf8.count == 2, (1...2).contains(parts[0].utf8.count),
            parts.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }), let hour = Int(parts[0]),
            let minute = Int(parts[1]), hour < 24, minute < 60
        else { return nil }
        return (hour, minute)
    }
}
