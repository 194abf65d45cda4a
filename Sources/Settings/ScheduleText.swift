import Model

/// Schedules as people write them: `daily 02:00`, `weekly sunday 02:00`.
enum ScheduleText {
    private static let days = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]

    static func parse(_ text: String) -> BotSpecification.Schedule? {
        let words = text.split(separator: " ").map { $0.lowercased() }
        guard let time = words.last.flatMap(time) else { return nil }
        if words.count == 2, words[0] == "daily" { return .daily(hour: time.hour, minute: time.minute) }
        guard words.count == 3, words[0] == "weekly", words[1].count >= 3,
            let day = days.firstIndex(where: { $0 == words[1] || $0.prefix(3) == words[1] })
        else { return nil }
        return .weekly(weekday: day + 1, hour: time.hour, minute: time.minute)
    }

    static func print(_ schedule: BotSpecification.Schedule) -> String {
        switch schedule {
        case .daily(let hour, let minute): "daily \(padded(hour)):\(padded(minute))"
        case .weekly(let weekday, let hour, let minute):
            "weekly \(days[min(max(weekday, 1), 7) - 1]) \(padded(hour)):\(padded(minute))"
        }
    }

    private static func time(_ text: String) -> (hour: Int, minute: Int)? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[1].utf8.count == 2, (1...2).contains(parts[0].utf8.count),
            parts.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }), let hour = Int(parts[0]),
            let minute = Int(parts[1]), hour < 24, minute < 60
        else { return nil }
        return (hour, minute)
    }

    private static func padded(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
